// The templates examples/vite-react and examples/nextjs, copied, and installed and started as their README says and used in Chromium.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { inHeadlessChromium } from '../lib/chromium.mjs';
import { ROOT } from '../lib/page.mjs';
import { reader } from './reader.mjs';

const ALLOWED = 'I was allowed to run it: echo hello';

let browser;
before(async () => {
  browser = await chromium.launch(inHeadlessChromium());
});
after(() => browser?.close());

/** A browser of its own, in which a person signs in. */
async function visit(url, name) {
  const context = await browser.newContext(),
    page = await context.newPage();
  page.setDefaultTimeout(40_000);
  page.errors = [];
  page.on('pageerror', e => page.errors.push(e.message));
  await page.goto(String(url));
  await page.getByPlaceholder('Your name').fill(name);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Your message').waitFor();
  return page;
}

async function say(page, text) {
  await page.getByLabel('Your message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** What a person does in their first minute, and what nobody else may do. */
async function use(me, url) {
  const page = await visit(url, 'ada');
  await say(page, 'approve');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText(ALLOWED).waitFor();
  await say(page, 'slow');
  await page.getByText('many streams flow').waitFor();
  await page.reload(); // in the middle of a turn
  await page.getByText('many streams flow').waitFor();
  assert.equal(await page.getByText(ALLOWED).count(), 1, 'it is shown once');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await page.locator('main').getByRole('alert').waitFor(); // the history says that the turn was stopped
  assert.deepEqual(page.errors, []);

  const other = await visit(page.url(), 'bob');
  assert.equal(await other.getByText(ALLOWED).count(), 0, 'another user sees nothing of it');
  await say(other, 'hello');
  await other.locator('main').getByRole('alert').waitFor(); // Next.js has one of its own
  assert.equal(await other.getByLabel('Your message').inputValue(), 'hello', 'the draft is given back');
  assert.equal((await fetch(`${me.gateway}/api/sessions`)).status, 401, 'nobody comes to the gateway without a token');
}

for (const [name, port, start] of [
  ['vite-react', 5173, 'preview'],
  ['nextjs', 3000, 'start'],
]) {
  describe(name, () => {
    let me;
    before(async () => {
      me = await reader(port);
      me.app = path.join(me.folder, name);
      me.example(name);
      me.clone();
      const [, install] = /^((?: {4}.*\n)+) {4}npm run gateway &$/m.exec(fs.readFileSync(path.join(me.app, 'README.md'), 'utf8'));
      await me.shell(install);
    });
    afterEach(() => me.stop());
    after(() => me.leave());

    test('has fewer than 150 lines of its own', () => {
      const files = fs
        .readdirSync(path.join(ROOT, 'examples', name), { recursive: true })
        .filter(f => /\.(tsx?|html)$/.test(f) && !/node_modules|next-env|\.next/.test(f));
      const lines = files.reduce(
        (sum, file) => sum + fs.readFileSync(path.join(ROOT, 'examples', name, file), 'utf8').split('\n').length - 1,
        0,
      );
      assert.ok(lines < 150, `${lines} lines`);
    });

    // Next.js compiles for half a minute. Its development server also runs the app of the guide (follow.test.mjs), and what this
    // template adds to that runs in production.
    const slow = name === 'nextjs' && process.env.TRIBUTARY_TEST_FULL !== '1';
    test('in development', { skip: slow && 'only with TRIBUTARY_TEST_FULL=1' }, async () => {
      await me.launch('npm run gateway');
      await me.launch(`TRIBUTARY_URL=${me.gateway} npm run dev`);
      await use(me, me.address);
    });

    test('in production', async () => {
      await me.shell('npm run build');
      await me.launch('npm run gateway');
      await me.launch(`TRIBUTARY_URL=${me.gateway} npm run ${start}`);
      await use(me, me.address);
    });
  });
}
