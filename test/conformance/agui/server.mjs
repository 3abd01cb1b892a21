// The AG-UI endpoints of the tests of adapter/agui, none of which knows Tributary: /aimock is CopilotKit's mock, and
// /tanstack is TanStack AI's own agent loop on a model that plays a script. The addresses are written to standard output.
import { AGUIMock } from '@copilotkit/aimock';
import { chat, chatParamsFromRequestBody, EventType, toolDefinition, toServerSentEventsResponse } from '@tanstack/ai';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';

const mock = new AGUIMock({ port: 0 });
mock.onMessage('hello', 'Hello from the mock.');
mock.onReasoning('think', 'I should think.');
mock.onToolCall('weather', 'get_weather', '{"city":"Paris"}', { result: '{"degrees":21}' });
mock.onPredicate(
  input => input.messages.at(-1)?.role === 'tool',
  [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r2' },
    { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm2', role: 'assistant', delta: 'Thank you.' },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r2', outcome: { type: 'success' } },
  ],
);
mock.onPredicate(
  input => input.resume?.length > 0,
  [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r2' },
    { type: 'TOOL_CALL_RESULT', messageId: 'm3', toolCallId: 'c1', content: 'sent' },
    { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm2', role: 'assistant', delta: 'That was it.' },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r2', outcome: { type: 'success' } },
  ],
);
const call = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r1', protocolVersion: '1.0' },
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'pick' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"of":3}' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
];
mock.onRun('pick', [
  ...call,
  { type: 'RUN_FINISHED', threadId: 't', runId: 'r1', outcome: { type: 'success', pendingToolCallIds: ['c1'] } },
]);
mock.onRun('approve', [
  ...call,
  {
    type: 'RUN_FINISHED',
    threadId: 't',
    runId: 'r1',
    outcome: { type: 'interrupt', interrupts: [{ id: 'i1', reason: 'tool_call', toolCallId: 'c1', message: 'Pick?' }] },
  },
]);
mock.onStateKey('never', {});

// A model of TanStack AI that plays a script: with no result of a tool yet, and with some.
const pieces = text => text.match(/\S+\s*/g);
function* say(id, text) {
  yield { type: EventType.TEXT_MESSAGE_START, messageId: id, role: 'assistant' };
  for (const delta of pieces(text)) yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta };
  yield { type: EventType.TEXT_MESSAGE_END, messageId: id };
}
function* use(id, name, input) {
  const args = JSON.stringify(input);
  yield { type: EventType.TOOL_CALL_START, toolCallId: id, toolCallName: name, toolName: name, index: 0 };
  for (let at = 0; at < args.length; at += 5) yield { type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta: args.slice(at, at + 5) };
  yield { type: EventType.TOOL_CALL_END, toolCallId: id, toolCallName: name, toolName: name, input };
}
const textOf = m => (typeof m.content === 'string' ? m.content : (m.content ?? []).map(p => p.content ?? p.text ?? '').join(''));
let runs = 0;
async function* play({ messages, threadId, runId }) {
  const id = `m${++runs}`;
  const prompt = textOf(messages.findLast(m => m.role === 'user') ?? {});
  const done = messages.slice(messages.findLastIndex(m => m.role === 'user') + 1).filter(m => m.role === 'tool');
  yield { type: EventType.RUN_STARTED, threadId, runId };
  let reason = 'stop';
  if (prompt === 'fail') throw new Error('the model exploded');
  if (prompt === 'think') {
    yield { type: EventType.REASONING_START, messageId: `${id}r` };
    yield { type: EventType.REASONING_MESSAGE_START, messageId: `${id}r`, role: 'reasoning' };
    yield { type: EventType.REASONING_MESSAGE_CONTENT, messageId: `${id}r`, delta: 'I should think.' };
    yield { type: EventType.REASONING_MESSAGE_END, messageId: `${id}r` };
    yield { type: EventType.REASONING_END, messageId: `${id}r` };
    yield* say(id, 'So I answer.');
  } else if (['weather', 'mail', 'pick'].includes(prompt) && done.length === 0) {
    reason = 'tool_calls';
    yield* say(id, 'Let me see. ');
    yield* use(`call_${id}`, prompt, { city: 'Paris' });
  } else if (done.length > 0) {
    yield* say(id, `The tool: ${textOf(done.at(-1))}`);
  } else {
    yield* say(
      id,
      `You said: ${messages
        .filter(m => m.role === 'user')
        .map(textOf)
        .join(' / ')}`,
    );
  }
  yield {
    type: EventType.RUN_FINISHED,
    threadId,
    runId,
    finishReason: reason,
    usage: { promptTokens: 5, completionTokens: 2, totalTokens: 7 },
  };
}
const model = {
  kind: 'text',
  name: 'scripted',
  model: 'scripted',
  '~types': {},
  chatStream: play,
  structuredOutput: async () => ({ data: {}, rawText: '{}' }),
};
const any = { type: 'object', properties: { city: { type: 'string' } } };
const weather = toolDefinition({ name: 'weather', description: 'the weather', inputSchema: any }).server(async ({ city }) => ({
  city,
  degrees: 21,
}));
const mail = toolDefinition({ name: 'mail', description: 'sends a mail', inputSchema: any, needsApproval: true }).server(async () => ({
  sent: true,
}));
const pick = toolDefinition({ name: 'pick', description: 'picks', inputSchema: any });

const server = createServer(async (req, res) => {
  let body = '';
  for await (const piece of req) body += piece;
  try {
    const params = await chatParamsFromRequestBody(JSON.parse(body));
    const stream = chat({ ...params, adapter: model, tools: [weather, mail, pick] });
    const answer = toServerSentEventsResponse(stream);
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    Readable.fromWeb(answer.body).pipe(res);
  } catch (e) {
    res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: e.message }));
  }
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
console.log(JSON.stringify({ aimock: await mock.start(), tanstack: `http://127.0.0.1:${server.address().port}/` }));
process.stdin.on('end', () => process.exit(0)).resume();
