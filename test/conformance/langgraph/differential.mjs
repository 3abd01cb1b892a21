#!/usr/bin/env node
// The recordings of LangGraph, read by Tributary and by @ai-sdk/langchain: equal where that package is right. Each difference has a name below.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { LangSmithDeploymentTransport, toUIMessageStream } from '@ai-sdk/langchain';
import { dataOf } from '../lib/sse.mjs';

const HERE = path.dirname(new URL(import.meta.url).pathname);
const RECORDINGS = path.join(HERE, '../../recordings/langgraph'),
  BINARY = path.join(HERE, '../../../bin/tributary');
const run = promisify(execFile);
const lines = text =>
  text
    .split('\n')
    .filter(Boolean)
    .map(l => JSON.parse(l));

/** What a recording publishes, in the form in which the package gets it from a graph or from RemoteGraph. */
async function* published(name, text) {
  if (name.endsWith('.stream.jsonl')) yield* lines(text).map(t => (Array.isArray(t[0]) && !t[0].length ? t.slice(1) : t));
  else if (name.endsWith('.jsonl')) {
    for (const e of lines(text)) {
      if (e.__stream_error__) throw new Error(e.__stream_error__.message);
      yield e;
    }
  } else {
    for (const frame of text.split('\n\n')) {
      const event = /^event: (.*)$/m.exec(frame)?.[1],
        data = dataOf(frame)[0];
      if (!event || !data) continue;
      const [mode, ...namespace] = event.split('|'),
        value = JSON.parse(data);
      if (mode === 'error') throw new Error(typeof value === 'string' ? value : JSON.stringify(value));
      if (mode === 'events') yield value;
      else if (['values', 'messages', 'custom', 'tools'].includes(mode)) yield namespace.length ? [namespace, mode, value] : [mode, value];
    }
  }
}

/** What a reader sees of a stream of chunks. */
function view(chunks) {
  const v = {
    texts: [],
    reasoning: [],
    inputs: {},
    outputs: {},
    errors: [],
    approvals: [],
    sources: [],
    files: [],
    custom: [],
    usage: [],
    speakers: [],
    open: [],
    results: {},
    orphans: [],
    steps: 0,
  };
  const parts = new Map(),
    started = new Set();
  for (const c of chunks) {
    const kind = c.type.split('-')[0];
    if (/^tool-output-(available|error)$/.test(c.type) && !c.preliminary) {
      if (!started.has(c.toolCallId)) v.orphans.push(c.toolCallId);
      (v.results[c.toolCallId] ??= []).push(c.output ?? c.errorText);
    }
    if (/^(text|reasoning)-start$/.test(c.type)) {
      parts.set(`${kind} ${c.id}`, { kind, text: '' });
      v.open.push(c.id);
    } else if (/^(text|reasoning)-delta$/.test(c.type)) parts.get(`${kind} ${c.id}`).text += c.delta;
    else if (/^(text|reasoning)-end$/.test(c.type)) v.open = v.open.filter(id => id !== c.id);
    else if (c.type === 'tool-input-start') {
      started.add(c.toolCallId);
      v.outputs[c.toolCallId] ??= 'none';
    } else if (c.type === 'tool-input-available') {
      started.add(c.toolCallId);
      v.inputs[c.toolCallId] = c.input;
      v.outputs[c.toolCallId] ??= 'none';
    } else if (c.type === 'tool-output-available' && !c.preliminary) v.outputs[c.toolCallId] = c.output;
    else if (c.type === 'tool-output-error') v.outputs[c.toolCallId] = { error: c.errorText };
    else if (c.type === 'tool-approval-request') v.approvals.push(c.toolCallId);
    else if (c.type === 'source-url') v.sources.push(c.url);
    else if (c.type === 'file') v.files.push(c.mediaType);
    else if (c.type === 'error') v.errors.push(c.errorText);
    else if (c.type === 'start-step') v.steps++;
    else if (c.type === 'data-usage') v.usage.push(c.data);
    else if (c.type === 'data-participant') v.speakers.push(c.data.participant);
    else if (c.type.startsWith('data-') && c.type !== 'data-error') v.custom.push(c.type);
    else if (c.type === 'start') v.message = c.messageId;
    else if (c.type === 'finish') v.finish = c.finishReason;
  }
  for (const p of parts.values()) if (p.text) (p.kind === 'text' ? v.texts : v.reasoning).push(p.text);
  return v;
}

async function read(name) {
  const file = path.join(RECORDINGS, name),
    text = fs.readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  const { stdout } = await run(BINARY, ['convert', '--from', 'langgraph', '--client', '7', file], { maxBuffer: 1 << 28 });
  const ours = dataOf(stdout)
      .filter(d => d !== '[DONE]')
      .map(d => JSON.parse(d)),
    theirs = [];
  for await (const c of toUIMessageStream(published(name, text))) theirs.push(c);
  return { name, ours: view(ours), theirs: view(theirs) };
}

const text = v => v.texts.join(''),
  json = v => JSON.stringify(v),
  values = o => Object.values(o);
const parsed = s => {
  try {
    return json(JSON.parse(s));
  } catch {
    return null;
  }
};
const letters = v => [...text(v)].sort().join('');
const events = /v2dict|-events/,
  waits = /approval.*-1\.|approval\.enc|edit-multi-1|ask-multi-1|static-interrupt-1/;

// The defects of @ai-sdk/langchain: where they show, which facets they explain, and what proves them in a recording.
const DEFECTS = [
  {
    n: 1,
    name: 'events of two speakers at once become one text',
    where: /atonce\.v2dict/,
    facets: ['texts'],
    shows: (o, t) => o.texts.length === 2 && t.texts.length === 1 && letters(o) === letters(t),
  },
  {
    n: 2,
    name: 'a tool of events has its run as its id, no input, and the whole message as its output',
    where: events,
    facets: ['inputs', 'outputs'],
    shows: (o, t) =>
      json(t.inputs) === '{}' && values(t.outputs).some(v => v?.tool_call_id) && Object.keys(t.outputs).every(id => !(id in o.inputs)),
  },
  {
    n: 3,
    name: 'a tool of events that fails is open for ever',
    where: /failtool.*(v2dict|-events)/,
    facets: ['inputs', 'outputs'],
    shows: (o, t) => values(o.outputs)[0].error && values(t.outputs)[0] === 'none',
  },
  {
    n: 4,
    name: 'interrupts, data and whole messages of events are dropped',
    where: events,
    facets: ['texts', 'approvals', 'custom', 'inputs', 'outputs', 'steps'],
    shows: (o, t) =>
      t.custom.length === 0 &&
      t.approvals.length === 0 &&
      json(t.inputs) === '{}' &&
      t.texts.every(x => o.texts.includes(x)) &&
      o.texts.length + o.custom.length + values(o.inputs).length > t.texts.length,
  },
  {
    n: 5,
    name: 'reasoning of messages on the wire is dropped',
    where: /./,
    facets: ['reasoning'],
    shows: (o, t) => o.reasoning.length > 0 && t.reasoning.length === 0,
  },
  {
    n: 6,
    name: 'the input of a call on the wire is missing, or a string',
    where: /sse$|stream/,
    facets: ['inputs'],
    shows: (o, t) =>
      Object.entries(o.inputs).some(([id, v]) => typeof v === 'object' && (t.inputs[id] === undefined || typeof t.inputs[id] === 'string')),
  },
  {
    n: 7,
    name: 'tools beside messages give two results for one call, or an error without its text',
    where: /multi|tools|static-interrupt-2|weather\.(enc-)?stream/,
    facets: ['outputs'],
    shows: (_, t) =>
      values(t.results).some(r => r.length > 1 && json(r[0]) !== json(r[1])) ||
      values(t.results).some(r => /pregelTaskId/.test(r[0]) || r[0]?.tool_call_id),
  },
  {
    n: 8,
    name: 'an interrupt inside a tool is the failure of the tool',
    where: /ask-multi-1/,
    facets: ['outputs', 'inputs', 'texts', 'custom'],
    shows: (o, t) => values(t.outputs).some(v => /GraphInterrupt/.test(v?.error)) && o.custom.includes('data-interrupt'),
  },
  {
    n: 9,
    name: 'after an answer the call has its old input, or stays open if it was rejected',
    where: /(edit-multi|approval-reject)-2/,
    facets: ['inputs', 'outputs'],
    shows: (o, t) =>
      (values(o.outputs).some(v => v?.error) && values(t.outputs).includes('none')) ||
      (/ann@/.test(json(t.inputs)) && /eve@/.test(json(o.inputs))),
  },
  {
    n: 10,
    name: 'messages of a resumed run alone have the result of a call that never began',
    where: /approval-messages-tuple-2/,
    facets: ['inputs', 'orphans'],
    shows: (o, t) => t.orphans.length === 1 && o.orphans.length === 0,
  },
  {
    n: 11,
    name: 'the text of an error is JSON, and what was being said stays open',
    where: /./,
    facets: ['errors', 'open'],
    shows: (o, t) =>
      (t.open.length > 0 && o.open.length === 0) ||
      (/^\{"error":/.test(t.errors[0]) &&
        o.open.length === 0 &&
        (o.errors.length === 0 || json(JSON.parse(t.errors[0]).message) === json(o.errors[0]))),
  },
  {
    n: 12,
    name: 'no usage, no reason for the end, no message id, no speaker',
    where: /./,
    facets: [],
    shows: (o, t) =>
      !t.usage.length &&
      !t.finish &&
      !t.message &&
      !t.speakers.length &&
      !!o.message &&
      !!o.finish &&
      (o.usage.length > 0 || o.speakers.length > 0),
  },
  {
    n: 13,
    name: 'messages that a node wrote are dropped, images too, and all speakers share the steps of one',
    where: /canned|blocks|duo|nested|custom/,
    facets: ['texts', 'custom', 'files'],
    shows: (o, t) =>
      o.texts.length > t.texts.length || o.files.length > t.files.length || o.custom.length > t.custom.length || o.steps > t.steps,
  },
  { n: 14, name: 'the transport cannot come back to a run' }, // see below: it has no recording
];

// Intended differences, where the package is not wrong.
const CHOICES = [
  {
    name: 'JSON that a tool returns as text is JSON',
    where: /./,
    facets: ['outputs'],
    shows: (o, t) =>
      Object.keys(o.outputs).every(
        id =>
          json(o.outputs[id]) === json(t.outputs[id]) ||
          (typeof t.outputs[id] === 'string' && parsed(t.outputs[id]) === json(o.outputs[id])),
      ),
  },
  {
    name: 'a recording that ends in a request asks in words, and leaves no call open',
    where: waits,
    facets: ['texts', 'inputs', 'outputs', 'approvals', 'custom'],
    shows: (o, t) => text(o).startsWith(text(t)) && values(o.outputs).every(v => v !== 'none'),
  },
  {
    name: 'a call of which only events tell that it waits is closed',
    where: /approval-(events|messages-tuple)-1/,
    facets: ['inputs', 'outputs'],
    shows: o => values(o.outputs).every(v => /^Not finished/.test(v.error)),
  },
  {
    name: 'the state alone tells everything',
    where: /-values/,
    facets: ['texts', 'outputs'],
    shows: (o, t) => o.texts.length > 0 && t.texts.length === 0,
  },
];

const FACETS = ['texts', 'reasoning', 'inputs', 'outputs', 'errors', 'approvals', 'sources', 'files', 'custom', 'open', 'orphans'];
const names = fs
  .readdirSync(RECORDINGS)
  .filter(
    n =>
      /\.(sse|v2dict\.jsonl|stream\.jsonl)$/.test(n) &&
      !/enc-v2|messages-\d|-messages\.sse|-tasks|-updates|-checkpoints|-debug|protocol|conversaition/.test(n),
  );
const proofs = new Map([...DEFECTS, ...CHOICES].map(d => [d, []])),
  failures = [];
let equal = 0;
for (const name of names) {
  const { ours, theirs } = await read(name).catch(e => {
    failures.push(`${name}: ${e.message}`);
    return {};
  });
  if (!ours) continue;
  const here = [...proofs.keys()].filter(d => d.where?.test(name) && d.shows(ours, theirs));
  for (const d of here) proofs.get(d).push(name);
  for (const facet of FACETS) {
    if (json(ours[facet]) === json(theirs[facet])) equal++;
    else if (!here.some(d => d.facets.includes(facet)))
      failures.push(
        `${name}: ${facet} are ${json(ours[facet]).slice(0, 300)} here and ${json(theirs[facet]).slice(0, 300)} there, and no difference with a name explains that`,
      );
  }
}
const transport = new LangSmithDeploymentTransport({ url: 'http://127.0.0.1:9' });
if (
  await transport.reconnectToStream({}).then(
    () => false,
    () => true,
  )
)
  proofs.get(DEFECTS.at(-1)).push('reconnectToStream');
for (const [d, where] of proofs) {
  if (!where.length) failures.push(`no recording shows: ${d.name}`);
  console.log(`${d.n ? `defect ${d.n}` : 'choice'}: ${d.name} (${where.length})`);
}
for (const f of failures) console.log(`FAIL ${f}`);
console.log(
  `${names.length} recordings, ${equal} of ${names.length * FACETS.length} facets equal, all other differences ${failures.length ? 'not ' : ''}explained`,
);
process.exitCode = failures.length ? 1 : 0;
