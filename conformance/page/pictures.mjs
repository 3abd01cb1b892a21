// Takes the pictures of the page in docs/img: twelve states, with the demo agent. `make pictures` runs it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { http, start } from '../lib/server.mjs';
import { BINARY, until } from '../lib/site.mjs';
import { launch } from './lib/page.mjs';

const OUT = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../docs/img');
const WIDE = { width: 1280, height: 800 }, PHONE = { width: 390, height: 844 };

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-pictures-'));
const server = await start(BINARY, { work, yaml: 'agents:\n  demo:\n    options: {pace: 4ms}\n    cwd: ' + work + '\n  echo: {}\n' });
const site = http(server), browser = await launch();
try {
  for (const [id, title, ...prompts] of [
    ['flow', 'Double the flow in spring', 'Search the functions of the river.', 'Edit the flow: it doubles in spring.', 'Run the tests in a shell.'], ['rivers', 'Seasons for all rivers', 'Give each river its season. I will review it.'],
    ['release', 'Notes for the next release', 'Write the notes in Markdown.'], ['format', 'Format the sources', 'Format the sources and test them, with the scopes that I may choose.'],
    ['colours', 'Which colour for the button?', 'Ask me for the colour of the button.'], ['flaky', 'Look for the flaky test', 'Find the error in the flaky test.'],
  ]) {
    await site.post('/api/sessions', { id, title, agent: 'demo' });
    for (const [n, text] of prompts.entries()) {
      await site.call('POST', '/api/chat', { id, messages: [{ id: `u-${id}-${n}`, role: 'user', parts: [{ type: 'text', text }] }] });
    }
  }
  const tests = page => page.getByText('go test ./... && echo').first().click();
  const fromTheTop = async page => {
    await page.locator('.scroll').hover();
    await page.mouse.wheel(0, -20_000);
  };
  await picture('page', '#/s/flow', {}, tests);
  await picture('page-dark', '#/s/flow', { colorScheme: 'dark' }, tests);
  await picture('markdown', '#/s/release', { colorScheme: 'dark' }, fromTheTop);
  await picture('review', '#/s/rivers/review', {}, async page => {
    const comment = async (name, line, text) => {
      await page.locator(`.review [data-path="${name}"]`).getByRole('button', { name: line, exact: true }).last().click();
      await page.keyboard.type(text);
    };
    await comment('docs/guides/rivers.md', 'Comment on line 1', 'Keep the old title.');
    await page.keyboard.press('Enter');
    await comment('data/table.txt', 'Comment on line 42', 'Why slow?');
  });
  await picture('changes', '#/s/rivers', { colorScheme: 'dark' }, fromTheTop);
  await picture('approval', '#/s/format');
  await picture('question', '#/s/colours', { colorScheme: 'dark' });
  await picture('inbox', '#/inbox', {}, page => page.locator('[data-request]').nth(1).waitFor());
  await picture('commands', '#/s/flow', {}, async page => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
  });
  await picture('phone', '#/s/flow', { viewport: PHONE }, tests);
  const { json } = await site.get('/api/sessions/format/requests');
  await picture('phone-request', `#/s/format/r/${encodeURIComponent(json.requests[0].id)}`, { viewport: PHONE }, page => page.locator('[data-request]').waitFor());
  await picture('phone-sessions', '#/s/flow', { viewport: PHONE, colorScheme: 'dark' }, page => page.getByRole('button', { name: 'Show the sessions' }).click());
} finally {
  await browser.close();
  await server.stop();
  fs.rmSync(work, { recursive: true, force: true });
}

/** One state of the page: at the hash, with Playwright's options, after what a person does. */
async function picture(name, hash, options = {}, act = async () => {}) {
  const context = await browser.newContext({ viewport: WIDE, colorScheme: 'light', reducedMotion: 'reduce', ...options }), page = await context.newPage();
  await page.goto(`${server.base}/?token=${encodeURIComponent(server.token)}`);
  await page.getByRole('textbox', { name: 'Your message' }).waitFor(); // the page has its secret then
  await page.goto(`${server.base}/${hash}`);
  await page.locator('.scroll, [data-request]').first().waitFor();
  await act(page);
  await until('the page has drawn everything', async () => await page.locator('[aria-busy=true]').count() === 0);
  await page.waitForTimeout(700); // colours of code come a little later
  await page.screenshot({ path: path.join(OUT, `${name}.png`) });
  console.log(`docs/img/${name}.png`);
  await context.close();
}
