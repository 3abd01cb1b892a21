// A server of AI SDK endpoints on a mock model, for the tests of adapter/uiendpoint. There is
// one endpoint for each release: /RELEASE/api/chat. The first line of output is the port.
import http from 'node:http';
import { z } from 'zod';

const releases = ['5.0.277', '6.0.323', '7.0.173'];
const wait = ms => new Promise(done => setTimeout(done, ms));

// words is a text in pieces.
function words(id, text, providerMetadata) {
  const pieces = text.split(/(?<= )/).map(delta => ({ type: 'text-delta', id, delta }));
  return [{ type: 'text-start', id, providerMetadata }, ...pieces, { type: 'text-end', id }];
}

const call = (toolCallId, toolName, input) => [
  { type: 'tool-input-start', id: toolCallId, toolName },
  { type: 'tool-input-delta', id: toolCallId, delta: JSON.stringify(input) },
  { type: 'tool-input-end', id: toolCallId },
  { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input), providerMetadata: { acme: { call: toolCallId } } },
];

// answer is what the model says to a conversation.
function answer(prompt, major) {
  const last = prompt.at(-1);
  if (last.role === 'tool') {
    const results = last.content.filter(c => c.type === 'tool-result').map(c => c.output);
    return words('1', `The tools say ${JSON.stringify(results)}.`);
  }
  const text = last.content.map(c => c.text ?? c.mediaType).join(' ');
  switch (text.split(' ')[0]) {
    case 'weather':
      return [...words('1', 'Let me look. '), ...call('w1', 'weather', { city: 'Paris' }), ...call('w2', 'weather', { city: 'Rome' })];
    case 'fail':
      return call('f1', 'fail', {});
    case 'where':
      return call('l1', 'where', {});
    case 'pay':
      return call('p1', 'pay', { amount: 5 });
    case 'unknown':
      return call('u1', 'nothing', {});
    case 'think':
      return [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm. ' },
        { type: 'reasoning-end', id: 'r', providerMetadata: { acme: { signature: 'sealed' } } },
        { type: 'source', sourceType: 'url', id: 's', url: 'https://a.test', title: 'A', providerMetadata: { acme: { rank: 1 } } },
        { type: 'file', mediaType: 'text/plain', data: major === 7 ? { type: 'data', data: 'aGk=' } : 'aGk=' },
        ...(major === 7 ? [{ type: 'custom', kind: 'acme.thing', providerMetadata: { acme: { x: 1 } } }] : []),
        ...words('1', 'Thought.'),
      ];
    case 'recall':
      return words('1', JSON.stringify(prompt));
    case 'error':
      return [...words('1', 'Half '), { type: 'error', error: new Error('The model is overloaded.') }];
    default:
      return words('1', `You said: ${text}`);
  }
}

async function endpoint(release) {
  const ai = await import(`ai-${release}`);
  const mocks = await import(`ai-${release}/test`);
  const major = Number(release[0]);
  const Model = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3 ?? mocks.MockLanguageModelV2;
  const usage =
    major === 5 ? { inputTokens: 1, outputTokens: 2, totalTokens: 3 } : { inputTokens: { total: 1 }, outputTokens: { total: 2 } };
  const model = new Model({
    doStream: async ({ prompt, abortSignal }) => {
      const parts = answer(prompt, major);
      const tools = parts.some(p => p.type === 'tool-call');
      const reason = tools ? 'tool-calls' : 'stop';
      const slow = prompt.at(-1).content.some?.(c => c.text === 'slow') ? 10000 : 0;
      const all = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason: major === 5 ? reason : { unified: reason, raw: reason }, usage },
      ];
      return {
        stream: new ReadableStream({
          async start(out) {
            for (const p of all) {
              if (slow && p.type === 'text-end') {
                await Promise.race([wait(slow), new Promise(done => abortSignal?.addEventListener('abort', done))]);
                stops.push(abortSignal?.aborted ?? false);
              }
              out.enqueue(p);
            }
            out.close();
          },
        }),
      };
    },
  });
  const tools = {
    weather: ai.tool({
      description: 'weather',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ city, sun: 1.5 }),
    }),
    fail: ai.tool({
      description: 'fail',
      inputSchema: z.object({}),
      execute: async () => {
        throw new Error('broken');
      },
    }),
    where: ai.tool({ description: 'where', inputSchema: z.object({}) }),
    pay: ai.tool({
      description: 'pay',
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: async ({ amount }) => `paid ${amount}`,
    }),
  };
  return async (request, signal, consumeSseStream) => {
    const result = ai.streamText({
      model,
      tools,
      abortSignal: signal,
      onError: () => {},
      stopWhen: ai.stepCountIs?.(4) ?? ai.isStepCount(4),
      messages: await ai.convertToModelMessages(await ai.validateUIMessages({ messages: request.messages })),
    });
    return result.toUIMessageStreamResponse({
      originalMessages: request.messages,
      sendSources: true,
      sendReasoning: true,
      generateMessageId: () => `theirs-${request.messages.length}`,
      onError: e => e.message,
      consumeSseStream,
      messageMetadata: ({ part }) => (part.type === 'start' ? { release } : part.type === 'finish' ? { done: true } : undefined),
    });
  };
}

const stops = [];
const endpoints = Object.fromEntries(await Promise.all(releases.map(async r => [r, await endpoint(r)])));

// kept are the running and finished messages of /RELEASE/resumable, by chat: as the AI SDK's
// documentation has it, in this process instead of in Redis.
const kept = new Map();

function keep(id) {
  const message = { pieces: [], over: false };
  kept.set(id, message);
  return async ({ stream }) => {
    for await (const piece of stream) message.pieces.push(piece);
    message.over = true;
  };
}

async function resume(id, res) {
  const message = kept.get(id);
  if (!message) return res.writeHead(204).end();
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < message.pieces.length || !message.over; ) {
    if (n < message.pieces.length) res.write(message.pieces[n++]);
    else await wait(5);
  }
  res.end();
}

const server = http.createServer(async (req, res) => {
  if (req.url === '/stops') return res.end(JSON.stringify(stops));
  const [, release, kind, id] = req.url.split('/');
  if (req.method === 'GET') return resume(id, res);
  let body = '';
  for await (const piece of req) body += piece;
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  try {
    const request = JSON.parse(body);
    const resumable = kind === 'resumable';
    const response = await endpoints[release](request, resumable ? undefined : gone.signal, resumable ? keep(request.id) : undefined);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    let n = 0;
    for await (const piece of response.body) {
      res.write(piece);
      if (resumable && n++ === 4) {
        // the connection breaks
        res.flushHeaders();
        return setTimeout(() => res.destroy(), 20);
      }
    }
    res.end();
  } catch (e) {
    if (!res.headersSent) res.writeHead(500);
    res.end(`${e.name}: ${e.message}`);
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
