// The peer: the stream that a Node.js server makes with the AI SDK's own
// createUIMessageStream and pipeUIMessageStreamToResponse. It takes the requests
// that the gateway takes, says the time as the gateway's demo agent does, and
// keeps nothing. It ends with its standard input.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUIMessageStream, pipeUIMessageStreamToResponse } from 'ai';

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

// at-20ms is an agent that pauses for 20 ms before each word.
function pace(agent) {
  const [, n, unit] = /^at-(\d+)(ms|s|m|h)$/.exec(agent ?? '') ?? [];
  if (unit === undefined) throw new Error(`no agent is called ${agent}`);
  return Number(n) * units[unit];
}

const now = () => `${BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n} `;

const page = JSON.stringify(
  Array.from({ length: 200 }, (_, i) => ({
    id: `message-${i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: 'clock 3 '.repeat(8), state: 'done' }],
  })),
);

async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

async function chat(request, response, agent) {
  const body = await read(request);
  const pause = pace(agent);
  const times = Number(body.messages.at(-1).parts[0].text.split(' ')[1]);
  const stream = createUIMessageStream({
    execute: async ({ writer }) => {
      writer.write({ type: 'start', messageId: `reply-${body.id}` });
      writer.write({ type: 'start-step' });
      writer.write({ type: 'text-start', id: 'text-1' });
      const begun = performance.now();
      for (let i = 0; i < times && !response.destroyed; i++) {
        await (pause > 0 ? sleep(begun + (i + 1) * pause - performance.now()) : null);
        writer.write({ type: 'text-delta', id: 'text-1', delta: now() });
      }
      writer.write({ type: 'text-end', id: 'text-1' });
      writer.write({ type: 'finish-step' });
      writer.write({ type: 'finish' });
    },
  });
  response.on('error', () => {});
  void pipeUIMessageStreamToResponse({ response, stream });
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1');
  if (request.method === 'POST' && url.pathname === '/api/chat') {
    chat(request, response, url.searchParams.get('agent')).catch(error => {
      if (!response.headersSent) response.writeHead(400);
      response.end(String(error));
    });
  } else if (url.pathname.endsWith('/messages')) {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(page);
  } else {
    response.writeHead(404).end();
  }
});
server.keepAliveTimeout = 600_000; // as patient as the others: a connection that is reused must not be closing
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
process.stdin.resume().on('end', () => process.exit(0));
