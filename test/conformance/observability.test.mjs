// The commands of docs/guides/observability.md, against a gateway with two sessions. A receiver on loopback takes the place of each store.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { block, unused } from './lib/page.mjs';
import { http as calls, start } from './lib/server.mjs';
import { BINARY } from './lib/site.mjs';

let gateway, receiver, got;

before(async () => {
  gateway = await start(BINARY, { yaml: 'agents:\n  demo: {options: {pace: 0s}}\n' });
  const { post } = calls(gateway);
  for (const id of ['demo-1', 'demo-2']) {
    await post('/api/chat', {
      id,
      messages: [{ id: `u-${id}`, role: 'user', parts: [{ type: 'text', text: 'say the secret word: heron' }] }],
    });
  }
  receiver = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    got.push({
      path: req.url,
      headers: req.headers,
      text: (req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('latin1'),
    });
    res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise(r => receiver.listen(0, '127.0.0.1', r));
});
after(async () => {
  receiver?.close();
  await gateway?.stop();
});

/** Runs a block of the guide as it stands, but for the addresses of the gateway and of the store. */
async function run(name) {
  got = [];
  const at = `http://127.0.0.1:${receiver.address().port}`;
  const script = block('guides/observability.md', name)
    .replaceAll(/https:\/\/(cloud\.langfuse\.com|collector\.example)|http:\/\/127\.0\.0\.1:\d+/g, at)
    .replaceAll('tributary export', `tributary export --url ${gateway.base}`);
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], {
    env: {
      ...process.env,
      PATH: `${path.dirname(BINARY)}:${process.env.PATH}`,
      TRIBUTARY_TOKEN: gateway.token,
      PUBLIC_KEY: 'pk-lf-1',
      SECRET_KEY: 'sk-lf-2',
    },
  });
  assert.match(stdout, /^2 sessions, 2 turns, \d+ spans sent, 0 dropped$/m);
  assert.equal(got.length, 2, 'a request for each turn');
  return got;
}

test('Langfuse gets the spans at its own address, with the key and the version', async () => {
  for (const { path, headers } of await run('langfuse')) {
    assert.equal(path, '/api/public/otel/v1/traces');
    assert.equal(headers.authorization, `Basic ${Buffer.from('pk-lf-1:sk-lf-2').toString('base64')}`);
    assert.equal(headers['x-langfuse-ingestion-version'], '4');
  }
});

for (const name of ['phoenix', 'mlflow', 'collector', 'sessions']) {
  test(`the command for ${name} sends both sessions`, async () => {
    for (const { path, headers, text } of await run(name)) {
      assert.equal(path, '/v1/traces');
      assert.equal(headers['x-mlflow-experiment-id'], name === 'mlflow' ? '0' : undefined);
      assert.match(text, /heron/);
    }
  });
}

test('only the classes of content that are named leave', async () => {
  for (const { text } of await run('content')) assert.match(text, /heron/, 'the prompt does');
});

test('every block of the guide was run', () => assert.deepEqual(unused(['guides/observability.md']), []));
