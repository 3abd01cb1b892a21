// The first hour of a stranger: the quickstart and the guides for Vite and Next.js, followed to the letter in fresh apps, and used in Chromium.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { inHeadlessChromium } from '../lib/chromium.mjs';
import { block, followed, GUIDES, ROOT, unused } from '../lib/page.mjs';
import { reader } from './reader.mjs';

const QUICK = 'quickstart.md',
  VITE = 'guides/vite.md',
  NEXT = 'guides/nextjs.md',
  PACKAGE = 'guides/react.md',
  USERS = 'guides/users.md';
const CHAT = ['guides/react-by-hand.md', 'guides/approvals.md', 'guides/resume-and-tabs.md', 'guides/edit.md'];
const ALLOWED = 'I was allowed to run it: echo hello';
const SECONDS = 40_000;

let browser;
before(async () => {
  browser = await chromium.launch(inHeadlessChromium());
});
after(() => browser?.close());

/** A browser of its own at this address. Errors of the page are those of the test. */
async function visit(url) {
  const context = await browser.newContext(),
    page = await context.newPage();
  page.setDefaultTimeout(SECONDS);
  page.setDefaultNavigationTimeout(3 * SECONDS); // a development server builds the page first
  page.errors = [];
  page.on('pageerror', e => page.errors.push(e.message));
  await page.goto(String(url));
  return page;
}

/** What a terminal shows: the URL with the token. */
const printed = (url, token) => `${url.origin}/?token=${token}`;

async function say(page, text) {
  await page.locator('form input').last().fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** Sends a prompt, approves the tool, sees the result, reloads, and sees the same. */
async function use(page) {
  await say(page, 'approve');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByText(ALLOWED).waitFor();
  const address = page.url();
  await page.reload();
  await page.getByText(ALLOWED).waitFor();
  assert.equal(page.url(), address);
  assert.equal(await page.getByText(ALLOWED).count(), 1, 'it is shown once');
  assert.equal(await page.getByText('I would like to run a command.').count(), 1, 'it is shown once');
  assert.deepEqual(page.errors, []);
}

/** The words come one after another, and not all at the end. */
async function streams(page) {
  await say(page, 'slow'); // ten seconds
  const lengths = new Set(),
    began = Date.now();
  while (lengths.size < 5 && Date.now() - began < 6000) {
    lengths.add((await page.locator('body').innerText()).length);
    await new Promise(done => setTimeout(done, 100));
  }
  assert.equal(lengths.size, 5, 'words come while the agent speaks');
}

describe('the quickstart', () => {
  let me;
  before(async () => {
    me = await reader(5173);
  });
  afterEach(() => me.stop());
  after(() => me.leave());

  test('builds the gateway in a clone and starts it, and its page answers', async () => {
    const gateway = await me.start(QUICK, 'start');
    const page = await visit(printed(gateway.url, me.token));
    await page.locator('textarea').fill('approve');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^allow\b/i }).click();
    await page.getByText(ALLOWED).waitFor();
    await page.reload();
    await page.getByText(ALLOWED).waitFor();
    await gateway.stop();
    await me.shell(`cd tributary\n${block(QUICK, 'path')}\n[ "$(command -v tributary)" = "$PWD/bin/tributary" ] && tributary version`);
  });

  test('starts the gateway with Claude Code, or says what is missing', async () => {
    const gateway = await me.start(QUICK, 'claude').catch(e => assert.match(e.message, /claude/i));
    await gateway?.stop();
  });

  test('ends with a chat in a fresh app, after three commands', async () => {
    await me.run(QUICK, 'create');
    me.app = path.join(me.folder, 'my-chat');
    me.commands = 0;
    await me.run(QUICK, 'install');
    me.copy(QUICK, 'chat.tsx', 'src/App.tsx');
    await me.start(QUICK, 'app');
    const gateway = await me.start(QUICK, 'serve');
    assert.equal(me.commands, 3);
    const page = await visit(printed(gateway.url, me.token));
    await use(page);
    await streams(page);
    await me.stop();
  });

  test('has the commands of the README', () => {
    const readme = fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8');
    for (const name of ['start', 'path', 'claude', 'install', 'app', 'serve'])
      assert.ok(readme.includes(block(QUICK, name).trim().replace(/^/gm, '    ')), `README.md lacks ${block(QUICK, name)}`);
  });
});

describe('the guide for Vite', () => {
  let me;
  before(async () => {
    me = await reader(5173);
    await me.shell('npm create vite@latest my-chat -- --template react-ts');
    me.app = path.join(me.folder, 'my-chat');
  });
  afterEach(() => me.stop());
  after(() => me.leave());

  test('the gateway stands in front of the app', async () => {
    await me.run('guides/react-by-hand.md', 'install');
    me.commands = 0;
    await me.run(VITE, 'install');
    me.copyAll(CHAT, 'src/chat');
    me.copy(VITE, 'src/App.tsx');
    await me.start(VITE, 'dev');
    const gateway = await me.start(VITE, 'serve');
    assert.equal(me.commands, 3);
    const page = await visit(printed(gateway.url, me.token));
    await use(page);

    const second = await page.context().newPage();
    await second.goto(page.url());
    await second.getByText(ALLOWED).waitFor();
    await say(page, 'tool');
    await second.getByText('The file says').waitFor({ timeout: SECONDS });
    await page.getByRole('button', { name: 'Again' }).last().click();
    await second.close();

    const app = path.join(me.app, 'src/App.tsx');
    const changed = fs.readFileSync(app, 'utf8').replace('<ChatPage />', '<><h1>Hot</h1><ChatPage /></>'),
      hot = page.getByRole('heading', { name: 'Hot' });
    for (let saved = 0; saved < 8 && !(await hot.isVisible()); saved++) {
      fs.writeFileSync(app, changed); // once more where Vite, on a busy machine, has not heard of the file
      await hot.waitFor({ timeout: SECONDS / 8 }).catch(() => {});
    }
    assert.ok(await hot.isVisible(), 'a change of the app comes through the gateway');
    await me.stop();
  });

  test('the proxy of Vite stands in front of the gateway', async () => {
    me.copy(VITE, 'vite.config.ts');
    await me.start(VITE, 'gateway');
    await me.start(VITE, 'proxied');
    const page = await visit(me.address);
    await use(page);
    await streams(page);
    await me.stop();
  });

  test('the package is a chat in one file', async () => {
    me.clone();
    await me.run(PACKAGE, 'install');
    me.copy(PACKAGE, 'chat.tsx', 'src/App.tsx');
    await me.start(VITE, 'dev');
    const gateway = await me.start(VITE, 'serve');
    const page = await visit(printed(gateway.url, me.token));
    await use(page);
    await streams(page);
    await me.stop();
  });

  test('the app builds', async () => {
    me.copyAll(['reference/parts.md'], 'src/parts');
    me.copy(QUICK, 'chat.tsx', 'src/quick/chat.tsx'); // into the app of the same template that the quickstart makes
    await me.shell('npm run build'); // the template checks the types of all of src
  });
});

describe('the guide for Next.js', () => {
  let me;
  before(async () => {
    me = await reader(3000);
    // What create-next-app writes, without its fonts, which it fetches from elsewhere.
    me.write(
      'package.json',
      JSON.stringify({ name: 'my-chat', private: true, scripts: { dev: 'next dev', build: 'next build', start: 'next start' } }),
    );
    me.write(
      'tsconfig.json',
      JSON.stringify({
        compilerOptions: {
          target: 'ES2017',
          lib: ['dom', 'dom.iterable', 'esnext'],
          allowJs: true,
          skipLibCheck: true,
          strict: true,
          noEmit: true,
          esModuleInterop: true,
          module: 'esnext',
          moduleResolution: 'bundler',
          resolveJsonModule: true,
          isolatedModules: true,
          jsx: 'react-jsx',
          incremental: true,
          plugins: [{ name: 'next' }],
          paths: { '@/*': ['./*'] },
        },
        include: ['next-env.d.ts', '**/*.ts', '**/*.tsx', '.next/types/**/*.ts'],
        exclude: ['node_modules', 'bin', 'data'],
      }),
    );
    me.write(
      'app/layout.tsx',
      'export default function Layout({ children }: { children: React.ReactNode }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n',
    );
  });
  afterEach(() => me.stop());
  after(() => me.leave());

  test('the one file of the quickstart is a page', async () => {
    await me.run(NEXT, 'install');
    me.copy(QUICK, 'chat.tsx', 'app/page.tsx');
    await me.start(NEXT, 'dev');
    const gateway = await me.start(NEXT, 'serve');
    assert.equal(me.commands, 3);
    const page = await visit(printed(gateway.url, me.token));
    await use(page);
    await streams(page);

    me.copyAll(CHAT, 'chat');
    me.copy(NEXT, 'app/page.tsx');
    await page.reload();
    await page.getByRole('button', { name: 'Again' }).last().waitFor(); // the chat of the guide
    await use(await visit(printed(gateway.url, me.token)));
    await me.stop();
  });

  test('in production the server adds a token for its user', async () => {
    await me.run(NEXT, 'jose');
    me.copy(USERS, 'token.ts', 'lib/token.ts');
    for (const name of ['lib/user.ts', 'app/api/[...path]/route.ts']) me.copy(NEXT, name);
    me.copy(USERS, 'tributary.yaml');
    me.write('secret', randomBytes(32).toString('hex'));
    await me.shell('npm run build');
    const gateway = await me.start(USERS, 'serve');
    await me.start(NEXT, 'start');
    const page = await visit(me.address);
    await use(page);
    await streams(page);

    const id = decodeURIComponent(new URL(page.url()).hash.slice(1));
    const history = headers => fetch(`${me.address}/api/sessions/${id}/messages`, { headers });
    assert.equal((await history({})).status, 200);
    assert.equal((await history({ 'sec-fetch-site': 'cross-site' })).status, 403);
    assert.equal(
      (await fetch(`${gateway.url.origin}/api/sessions/${id}/messages`)).status,
      401,
      'nobody comes to the gateway without a token',
    );
    await me.stop();
  });
});

test('every block of these pages was followed', () => assert.deepEqual(unused(GUIDES).filter(followed), []));
