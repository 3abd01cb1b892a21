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

let gateway, receiver, got, auth;

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

const PAGE = 'guides/observability.md';
const KEYS = { PUBLIC_KEY: 'pk-lf-1', SECRET_KEY: 'sk-lf-2' };
const BASIC = `Basic ${Buffer.from('pk-lf-1:sk-lf-2').toString('base64')}`;

/** What the commands of the guide put into LANGFUSE_AUTH. */
async function authorization() {
  const { stdout } = await promisify(execFile)('bash', ['-euc', `${block(PAGE, 'auth')}\nprintf %s "$LANGFUSE_AUTH"`], {
    env: { ...process.env, ...KEYS },
  });
  return stdout;
}

/** Runs a block of the guide as it stands, but for the addresses of the gateway and of the store. */
async function run(name) {
  got = [];
  const at = `http://127.0.0.1:${receiver.address().port}`;
  auth ??= await authorization();
  const script = block(PAGE, name)
    .replaceAll(/https:\/\/(cloud\.langfuse\.com|collector\.example)|http:\/\/127\.0\.0\.1:\d+/g, at)
    .replaceAll('tributary export', `tributary export --url ${gateway.base}`);
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], {
    env: {
      ...process.env,
      PATH: `${path.dirname(BINARY)}:${process.env.PATH}`,
      TRIBUTARY_TOKEN: gateway.token,
      LANGFUSE_AUTH: auth,
    },
  });
  assert.match(stdout, /^2 sessions, 2 turns, \d+ spans sent, 0 dropped$/m);
  assert.equal(got.length, 2, 'a request for each turn');
  return got;
}

test('Langfuse gets the spans at its own address, with the key and the version', async () => {
  for (const { path, headers } of await run('langfuse')) {
    assert.equal(path, '/api/public/otel/v1/traces');
    assert.equal(headers.authorization, BASIC);
    assert.equal(headers['x-langfuse-ingestion-version'], '4');
  }
});

test('the gateway sends each turn to Langfuse when it has ended', async () => {
  got = [];
  const exporters = block(PAGE, 'exporters').replace('https://cloud.langfuse.com', `http://127.0.0.1:${receiver.address().port}`);
  const exporting = await start(BINARY, {
    yaml: `agents:\n  demo: {options: {pace: 0s}}\n${exporters}`,
    env: { ...process.env, LANGFUSE_AUTH: await authorization() },
  });
  try {
    await calls(exporting).post('/api/chat', {
      id: 'live',
      messages: [{ id: 'u-live', role: 'user', parts: [{ type: 'text', text: 'say the secret word: heron' }] }],
    });
    while (got.length === 0) await new Promise(r => setTimeout(r, 20));
    const [{ path, headers, text }] = got;
    assert.equal(path, '/api/public/otel/v1/traces');
    assert.equal(headers.authorization, BASIC);
    assert.equal(headers['x-langfuse-ingestion-version'], '4');
    assert.match(text, /heron/);
  } finally {
    await exporting.stop();
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

test('every block of the guide was run', () => assert.deepEqual(unused([PAGE]), []));
