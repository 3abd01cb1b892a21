#!/usr/bin/env node
// Reads recorded UI message streams with the real clients (transport and Chat) and prints what each made of them.
import fs from 'node:fs';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { chosen, load } from './lib/clients.mjs';
import { isTool, plain, reasoningOf, textOf } from './lib/message.mjs';
import { dataOf, streamsOf } from './lib/sse.mjs';

const USAGE = `usage: node replay.mjs [--client C] [--short] FILE.sse… (- reads standard input)
Several streams in one file follow one another, each ended by "data: [DONE]"; they become the turns of one chat.
Prints one JSON document. Exit status 0 when no client found an error and all agree on text, tools and ending; 1 otherwise; 2 on bad usage.
An error chunk of the stream itself is its ending ("error"), not an error of the client.
  --client C   only these clients: 5.0.0 … 7.0.173, or a major; repeatable
  --short      leave out the parts of each message`;

// What the stream itself says about its ending; error comes last on screen, so it wins.
function endingOf(chunks) {
  const types = chunks.map(c => c?.type);
  const failed = chunks.find(c => c?.type === 'error');
  if (failed) return { ending: 'error', errorText: failed.errorText };
  if (types.includes('abort')) return { ending: 'abort', bare: !types.includes('finish') };
  return types.includes('finish') ? { ending: 'finish' } : { ending: 'none' };
}

async function replay(client, streams, short) {
  let at = 0;
  const transport = new client.ai.DefaultChatTransport({
    api: 'http://bytes.test/api/chat',
    fetch: async () => new Response(streams[at], { headers: { 'content-type': 'text/event-stream' } }),
  });
  const chat = new client.sdk.Chat({ id: 'replay', transport, generateId: (n => () => `local-${n++}`)(0) });
  const turns = [], errors = [];
  for (; at < streams.length; at++) {
    const data = dataOf(streams[at]);
    const chunks = data.filter(d => d !== '[DONE]').map(d => { try { return JSON.parse(d); } catch { return null; } });
    const { ending, errorText, bare } = endingOf(chunks);
    const problem = text => errors.push({ stream: at, problem: text });
    await chat.sendMessage({ text: `stream ${at}` });
    const message = chat.messages.at(-1).role === 'assistant' ? plain(chat.messages.at(-1)) : null;
    const own = ending === 'error' && chat.status === 'error' && chat.error?.message === errorText;
    if (chat.status === 'error' && !own) problem(String(chat.error?.message).replace(/\s+/g, ' ').slice(0, 400));
    if (chat.status !== 'error' && ending === 'error') problem('the stream holds an error chunk the client never reached');
    if (!['ready', 'error'].includes(chat.status)) problem(`the client ends in status ${chat.status}`);
    if (!chunks.length) problem('the stream holds no chunk');
    if (data.at(-1) !== '[DONE]') problem('the stream does not end in [DONE]');
    if (ending === 'none') problem('the stream has no finish, abort or error');
    const left = (message?.parts ?? []).filter(p => p.state === 'streaming' || p.state === 'input-streaming');
    // Only a turn that another one supersedes may end by abort alone, with everything open.
    const open = (message?.parts ?? []).filter(p => p.providerExecuted && p.state === 'input-available');
    if (open.length && !bare) problem(`${open.length} tool call(s) never get an output: ${open.map(p => p.toolName ?? p.type.slice(5)).join(', ')}`);
    if (left.length && !bare) problem(`${left.length} part(s) are left streaming: ${left.map(p => p.type).join(', ')}`);
    turns.push({
      id: message?.id ?? null, text: textOf(message), reasoning: reasoningOf(message),
      tools: (message?.parts ?? []).filter(isTool).map(p => ({ name: p.toolName ?? p.type.slice(5), state: p.state, ...(p.errorText ? { errorText: p.errorText } : {}) })),
      ending, ...(errorText === undefined ? {} : { errorText }), ...(message?.metadata ? { metadata: message.metadata } : {}),
      ...(short ? {} : { parts: message?.parts ?? [] }),
    });
  }
  const ids = turns.map(t => t.id).filter(Boolean);
  if (new Set(ids).size !== ids.length) errors.push({ problem: `two streams use the same message id: ${ids.join(' ')}` });
  return { turns, errors };
}

async function main() {
  let o;
  try {
    o = parseArgs({ allowPositionals: true, options: { client: { type: 'string', multiple: true }, short: { type: 'boolean' }, help: { type: 'boolean' } } });
    if (o.values.help) { console.log(USAGE); return 0; }
    if (!o.positionals.length) throw new Error('name at least one file');
    o.names = chosen(o.values.client);
    o.files = o.positionals.map(f => ({ file: f, text: fs.readFileSync(f === '-' ? 0 : f, 'utf8') }));
  } catch (e) { console.error(`${e.message}\n${USAGE}`); return 2; }
  const clients = await Promise.all(o.names.map(load));
  const said = console.error;
  console.error = () => {};
  const out = [];
  for (const { file, text } of o.files) {
    const streams = streamsOf(text), results = {}, differ = [];
    const gist = r => r.turns.map(({ text: t, reasoning, tools, ending }) => ({ t, reasoning, tools, ending }));
    for (const c of clients) results[c.name] = await replay(c, streams, o.values.short);
    for (const c of clients.slice(1)) if (!isDeepStrictEqual(gist(results[c.name]), gist(results[clients[0].name]))) differ.push(`${c.name} differs from ${clients[0].name}`);
    if (!streams.length) differ.push('the file holds no stream');
    const errors = clients.flatMap(c => results[c.name].errors.map(e => ({ client: c.name, ...e })));
    out.push({ file, ok: !errors.length && !differ.length, streams: streams.length, errors, differ, turns: results[clients.at(-1).name].turns });
  }
  console.error = said;
  const ok = out.every(f => f.ok);
  console.log(JSON.stringify({ ok, clients: o.names, files: out }, null, 2));
  return ok ? 0 : 1;
}

process.exitCode = await main();
setTimeout(() => process.exit(), 300).unref();
