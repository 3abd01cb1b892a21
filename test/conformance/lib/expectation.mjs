// A recording's own words on what each turn amounts to (the README.md beside it), against what a client made of it.
import fs from 'node:fs';
import { isTool } from './message.mjs';

/** The expectations of a recording, one a turn. Server-sent events as an agent sent them hold none. */
export const expectations = file =>
  file.endsWith('.sse')
    ? []
    : fs
        .readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(l => JSON.parse(l))
        .filter(l => l.dir === 'meta' && l.expect)
        .map(l => l.expect);

// Some recordings say it in an agent's words, others in those of a client.
const ENDINGS = {
  completed: 'finish',
  stop: 'finish',
  failed: 'error',
  error: 'error',
  canceled: 'abort',
  abort: 'abort',
  'idle-timeout': 'error',
};
const STATES = { completed: 'output-available', failed: 'output-error', canceled: 'output-error', denied: 'output-denied' };
const inWords = status => STATES[status] ?? status;
const state = (status, profile) => (profile === 5 && inWords(status) === 'output-denied' ? 'output-error' : inWords(status)); // 5 knows no denial
const isAsk = p => ['tool-AskUser', 'tool-AskPermission'].includes(p.type);
const show = v => {
  const s = JSON.stringify(v) ?? 'nothing';
  return s.length > 200 ? `${s.slice(0, 200)}…` : s;
};

// Removes these blocks from a text, in order; null if one is missing.
function without(text, blocks) {
  const rest = [];
  let at = 0;
  for (const block of blocks) {
    const found = text.indexOf(block, at);
    if (found < 0) return null;
    rest.push(text.slice(at, found));
    at = found + block.length;
  }
  return [...rest, text.slice(at)].filter(Boolean);
}

// How many times a person is asked in the message, shown as whatever the profile shows.
const asksIn = parts => parts.filter(p => isAsk(p) || p.approval).length;

function answerTo(parts, id) {
  const tool = parts.find(p => p.approval?.id === id);
  if (tool) return tool.state === 'output-denied' ? 'denied' : 'approved';
  const asked = parts.find(p => p.type === 'tool-AskPermission' && p.input?.request_id === id);
  return asked && (asked.state === 'output-available' ? (asked.output.approved ? 'approved' : 'denied') : asked.errorText);
}

/** What went wrong while a client read the turns; returns a sentence for each. */
export const unread = ({ turns, errors }) => [
  ...errors.map(e => `stream ${e.stream ?? '-'}: ${e.problem}`),
  ...(turns.length ? [] : ['there is no stream']),
];

/** Compares the turns one client made of a recording; returns a sentence for each difference. */
export function differences(wants, { turns, errors }, profile) {
  const out = errors.map(e => `stream ${e.stream ?? '-'}: ${e.problem}`);
  if (!wants.length) out.push('the recording expects nothing: record it again');
  if (turns.length !== wants.length) return [...out, `there are ${turns.length} streams, want ${wants.length}`];
  const reported = new Map();
  for (const [i, want] of wants.entries()) {
    const got = turns[i],
      parts = got.parts;
    const say = (what, a, b) => {
      if (show(a) !== show(b) || JSON.stringify(a) !== JSON.stringify(b)) out.push(`turn ${i + 1}: ${what} is ${show(a)}, want ${show(b)}`);
    };
    say('the ending', got.ending, ENDINGS[want.outcome]);
    if (want.errorText !== undefined) say('the error', got.errorText, want.errorText);
    say('the reasoning', got.reasoning, (want.reasoning ?? []).join(''));
    const text = want.text ?? want.speakers?.map(s => s.text) ?? [];
    const rest = without(got.text, text),
      asks = asksIn(parts);
    if (!rest) out.push(`turn ${i + 1}: the text is ${show(got.text)}, want in this order ${show(text)}`);
    else if (rest.length > asks) out.push(`turn ${i + 1}: ${show(rest)} is said too, and a person is asked ${asks} times`);
    const told = Object.keys(want.subagents ?? {}); // a call is shown again in the turn of its report
    const stands = p => p.toolCallId in (want.approvals ?? {}) && !(p.toolCallId in (want.tools ?? {})); // a call that stands for its approval only
    const tools = parts.filter(p => isTool(p) && !isAsk(p) && !stands(p) && !told.includes(p.toolCallId));
    if (Array.isArray(want.tools))
      say(
        'the state of the tools',
        tools.map(p => [p.toolName ?? p.type.slice(5), p.state]),
        want.tools.map(t => [t.toolName, state(t.state, profile)]),
      ); // its calls have no ids
    else
      say(
        'the state of the tools',
        tools.map(p => [p.toolCallId, p.state]).sort(),
        Object.entries(want.tools ?? {})
          .map(([id, s]) => [id, state(s, profile)])
          .sort(),
      );
    for (const [id, answer] of Object.entries(want.approvals ?? {})) {
      say(`the answer to ${id}`, answerTo(parts, id), answer);
    }
    for (const [question, answer] of Object.entries(want.questions ?? {})) {
      const asked = parts.find(p => p.type === 'tool-AskUser' && [p.input?.question, p.input?.question_id].includes(question));
      if (!JSON.stringify(asked?.output ?? null).includes(answer))
        out.push(`turn ${i + 1}: ${question} is answered by ${show(asked?.output)}, want ${answer}`);
    }
    for (const p of parts)
      if (p.type === 'data-subagent') reported.set(p.data.tool_call_id, [...(reported.get(p.data.tool_call_id) ?? []), p.data]);
    for (const [id, sub] of Object.entries(want.subagents ?? {})) {
      const said = reported.get(id) ?? [];
      if (!without(said.map(d => d.text).join('\n'), sub.text))
        out.push(`turn ${i + 1}: the sub-agent said ${show(said)}, want ${show(sub.text)}`);
      say('the end of the sub-agent', said.at(-1)?.status, sub.outcome);
    }
  }
  return out;
}
