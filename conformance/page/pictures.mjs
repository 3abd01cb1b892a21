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
  for (const [id, title, prompt] of [
    ['parser', 'Fix the parser of dates', 'edit'], ['release', 'Notes for the next release', 'markdown'], ['deploy', 'Deploy to staging', 'scopes'],
    ['colours', 'Which colour for the button?', 'ask'], ['tests', 'Run the tests', 'shell'], ['flaky', 'Look for the flaky test', 'error'],
  ]) {
    await site.post('/api/sessions', { id, title, agent: 'demo' });
    await site.call('POST', '/api/chat', { id, messages: [{ id: `u-${id}`, role: 'user', parts: [{ type: 'text', text: prompt }] }] });
  }
  const fromTheTop = page => page.getByRole('heading', { name: 'Formatting' }).evaluate(e => e.scrollIntoView());
  await picture('page', '#/s/release', {}, fromTheTop);
  await picture('page-dark', '#/s/release', { colorScheme: 'dark' }, fromTheTop);
  await picture('terminal', '#/s/tests', {}, page => page.getByText('go test ./... && echo').first().click());
  await picture('changes', '#/s/parser');
  await picture('review', '#/s/parser/review', {}, page => page.locator('.review').waitFor());
  await picture('approval', '#/s/deploy');
  await picture('question', '#/s/colours', { colorScheme: 'dark' });
  await picture('inbox', '#/inbox', {}, page => page.locator('[data-request]').nth(1).waitFor());
  await picture('commands', '#/s/release', {}, async page => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
  });
  await picture('phone', '#/s/tests', { viewport: PHONE }, page => page.getByText('go test ./... && echo').first().click());
  const { json } = await site.get('/api/sessions/deploy/requests');
  await picture('phone-request', `#/s/deploy/r/${encodeURIComponent(json.requests[0].id)}`, { viewport: PHONE }, page => page.locator('[data-request]').waitFor());
  await picture('phone-sessions', '#/s/release', { viewport: PHONE, colorScheme: 'dark' }, page => page.getByRole('button', { name: 'Show the sessions' }).click());
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
