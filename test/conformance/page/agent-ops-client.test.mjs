// examples/agent-ops-client in Chromium: one session by the old hook (the WebSocket of an Agent Ops browser) and by useChat, and the flag between them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import { start, http as calls } from '../lib/server.mjs';
import { BINARY, PATIENCE, until } from '../lib/site.mjs';
import { launch, watch } from './lib/page.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const EXAMPLE = path.join(HERE, '../../../examples/agent-ops-client');

const BOB = 'the-token-of-bob-who-looks-in';
let browser, site, server, origin;

before(async () => {
  const {
    outputFiles: [bundle],
  } = await build({
    entryPoints: [path.join(EXAMPLE, 'src/main.tsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    logLevel: 'silent',
    nodePaths: [path.join(HERE, '../node_modules')],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const gateway = await start(BINARY, {
    yaml: 'agents:\n  demo: {options: {pace: 4ms}}\n  unhurried: {adapter: demo, options: {pace: 12ms}}\nauth: {tokens: [{name: bob, role: collaborator, token_env: BOB_TOKEN}]}\n',
    env: { ...process.env, BOB_TOKEN: BOB },
  });
  site = { ...gateway, ...calls(gateway) };
  server = http.createServer((req, res) => {
    if (req.url === '/main.js') return res.writeHead(200, { 'content-type': 'text/javascript' }).end(bundle.text);
    res
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><title>x</title><div id="gateway" data-base="${site.base}" data-token="${site.token}"></div><div id="root"></div><script type="module" src="/main.js"></script>`,
      );
  });
  await new Promise(r => server.listen(0, '127.0.0.1', r));
  origin = `http://localhost:${server.address().port}`;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  await site?.stop();
});

/** A session of its own in a browser of its own. flag: whether the chat comes by useChat. */
async function open(flag, { agent = 'demo', id = randomUUID(), context } = {}) {
  if (!context) {
    const made = await site.post('/api/sessions', { id, agent });
    assert.equal(made.status, 201, made.text);
  }
  const own = context ?? (await browser.newContext());
  const page = await own.newPage();
  page.setDefaultTimeout(PATIENCE);
  watch(page);
  await page.goto(`${origin}/?session=${id}`);
  page.id = id;
  page.flag = page.getByLabel('AI SDK chat');
  await page.getByLabel('Here now').getByText('operator').waitFor(); // the socket of the old hook is open then
  if (flag) await page.flag.check();
  else await page.flag.uncheck();
  page.chat = page.getByRole('region', { name: 'Chat' });
  page.say = async text => {
    await page.getByLabel('Your message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  /** The conversation as a person sees it: each message's paragraphs and tools. */
  page.shown = () =>
    page.locator('article').evaluateAll(all => all.map(a => [a.ariaLabel, ...[...a.children].map(c => c.textContent.trim())]));
  page.rests = () =>
    until(
      'the turn is over',
      async () =>
        (await site.get(`/api/sessions/${id}`)).json.state === 'idle' && (await page.getByRole('status').textContent()) === 'idle',
    );
  const close = own.close.bind(own);
  page.leave = async () => {
    await close();
    assert.deepEqual(page.errors, []);
  };
  return page;
}

const BOTH = [
  [false, 'the old hook'],
  [true, 'useChat'],
];

test('the flag shows the same conversation by the other hook, and a reload keeps the choice', async () => {
  const page = await open(false);
  for (const [i, prompt] of ['hello', 'tool', 'fail'].entries()) {
    await page.say(prompt);
    await until('the answer is there', async () => (await page.shown()).length === 2 * (i + 1));
    await page.rests();
  }
  const old = await page.shown();
  assert.equal(old.length, 6);
  await page.flag.check();
  await until('the other hook shows the same', async () => JSON.stringify(await page.shown()) === JSON.stringify(old)).catch(async () =>
    assert.deepEqual(await page.shown(), old),
  );
  await page.reload();
  assert.equal(await page.flag.isChecked(), true, 'the flag is a setting of the session');
  await until('a reload shows it', async () => JSON.stringify(await page.shown()) === JSON.stringify(old));
  await page.flag.uncheck();
  await until('the old hook shows it again', async () => JSON.stringify(await page.shown()) === JSON.stringify(old));
  await page.leave();
});

for (const [flag, name] of BOTH) {
  test(`an approval is answered, and a question (${name})`, async () => {
    const page = await open(flag);
    await page.say('approve');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('I was allowed to run it').waitFor();
    await page.rests();
    await page.say('approve');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('I did not run the command').first().waitFor();
    await page.rests();
    await page.say('ask');
    await page.getByRole('button', { name: 'green' }).click();
    await page.getByText('You chose green.').waitFor();
    await page.rests();
    assert.equal(await page.locator('fieldset').count(), 0);
    await page.leave();
  });

  test(`abort stops the agent, not only the stream (${name})`, async () => {
    const page = await open(flag, { agent: 'unhurried' });
    await page.say('slow 10000');
    await page.locator('article[aria-label=assistant] p').first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.rests();
    assert.equal((await site.get(`/api/sessions/${page.id}`)).json.outcome, 'canceled');
    await page.leave();
  });

  test(`a reload in the middle of an answer shows all of it (${name})`, async () => {
    const page = await open(flag, { agent: 'unhurried' });
    await page.say('slow');
    await page.locator('article[aria-label=assistant] p').first().waitFor();
    await page.reload();
    await page.rests();
    const text = (await site.history(page.id))
      .at(-1)
      .parts.filter(p => p.type === 'text')
      .map(p => p.text.trim())
      .join('');
    await until('the whole answer is shown', async () => (await page.shown()).at(-1).slice(1).join('') === text);
    assert.equal((await page.shown()).length, 2);
    await page.leave();
  });

  test(`a turn of another tab appears, and its request is answered here (${name})`, async () => {
    const page = await open(flag);
    const other = await open(!flag, { id: page.id, context: await browser.newContext() });
    await other.say('approve');
    await page.getByRole('button', { name: 'Approve' }).click();
    for (const each of [page, other]) {
      await each.getByText('I was allowed to run it').waitFor();
      await until('nothing is asked any more', async () => (await each.locator('fieldset').count()) === 0);
      await each.leave();
    }
  });
}

test('the flag changes in the middle of an answer, both ways, and the answer is whole', async () => {
  const page = await open(false, { agent: 'unhurried' });
  await page.say('slow 200');
  await page.locator('article[aria-label=assistant] p').first().waitFor();
  await page.flag.check();
  await page.locator('article[aria-label=assistant] p').first().waitFor();
  await until('the stream shows that the agent writes', async () => (await page.getByRole('status').textContent()) === 'streaming');
  await page.flag.uncheck();
  await page.flag.check();
  await page.rests();
  const text = (await site.history(page.id))
    .at(-1)
    .parts.filter(p => p.type === 'text')
    .map(p => p.text.trim())
    .join('');
  await until('the whole answer is shown', async () => (await page.shown()).at(-1).slice(1).join('') === text);
  assert.equal((await site.get(`/api/sessions/${page.id}`)).json.outcome, 'completed', 'no change of the flag has stopped it');
  await page.flag.uncheck();
  await until('and by the old hook', async () => (await page.shown()).at(-1).slice(1).join('') === text);
  await page.leave();
});

test('the flag changes while a request waits', async () => {
  const page = await open(true);
  await page.say('approve');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.flag.uncheck();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('I was allowed to run it').waitFor();
  await page.flag.check();
  await page.getByText('I was allowed to run it').waitFor();
  assert.equal(await page.locator('fieldset').count(), 0);
  await page.leave();
});

test('events beside the chat come by the old socket, with the flag on too', async () => {
  const page = await open(true);
  await page.say('hello');
  await page.rests();
  const here = words => until(words, async () => (await page.getByLabel('Here now').textContent()).split(', ').sort().join(', ') === words);
  await here('operator');
  await page.evaluate(
    ([address, token]) => {
      window.bob = new WebSocket(address, ['agent-ops', `bearer.${token}`]);
    },
    [`${site.base.replace('http', 'ws')}/api/sessions/${page.id}/ws?role=client`, BOB],
  );
  await here('bob, operator');
  await page.evaluate(() => window.bob.close());
  await here('operator');
  await page.leave();
});

test('a prompt that the gateway does not take is said, and can be tried again', async () => {
  const page = await open(false);
  let searches, release;
  const searching = new Promise(resolve => {
    searches = resolve;
  });
  const released = new Promise(resolve => {
    release = resolve;
  });
  await page.route(/[/]chat[?/]/, async route => {
    if (route.request().method() === 'POST') return route.abort();
    searches(); // for a running turn, at the same address: it finds none, and comes back after the prompt went out
    await released;
    await route.continue();
  });
  await page.flag.check();
  await searching;
  await page.say('hello');
  await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  release();
  await page.getByRole('alert').waitFor();
  await page.unroute(/[/]chat[?/]/);
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('I am the demo agent').waitFor();
  await page.rests();
  assert.equal((await page.shown()).length, 2);
  await page.leave();
});
