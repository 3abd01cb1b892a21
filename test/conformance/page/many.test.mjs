// A thousand sessions are as quick as ten.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, until, useChromium, useGateway } from './lib/page.mjs';

useChromium();
const site = useGateway();

const list = page => page.getByRole('navigation', { name: 'Sessions' });
const titles = page => list(page).locator('.row .title').allTextContents();
const make = (id, title, more = {}) => site.post('/api/sessions', { id, title, ...more });
const session = async id => (await site.get(`/api/sessions/${id}`)).json;

test('a thousand sessions are listed, searched and walked through at once; an old one opens by its address', async () => {
  await make('oldest', 'The oldest of all', { agent: 'echo' });
  for (let i = 0; i < 1000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => make(`many-${i + k}`, `Number ${i + k}`)));
  const page = await open(site);
  await until('the newest hundred are there', async () => (await titles(page)).length === 100);
  for (let n = 2; n <= 10; n++) {
    await list(page).getByRole('button', { name: 'Older sessions' }).click();
    await until(`${n} hundred are there`, async () => (await titles(page)).length === n * 100);
  }
  const took = await page.evaluate(async () => {
    const began = performance.now();
    document.querySelector('[data-session="many-500"]').click();
    while (!document.querySelector('h1')?.textContent.includes('Number 500')) await new Promise(r => setTimeout(r, 5));
    return performance.now() - began;
  });
  assert.ok(took < 500, `it took ${took} ms to open a session of 1,000`);
  const began = Date.now();
  await page.getByRole('searchbox', { name: 'Search the sessions' }).fill('Number 777');
  await until('it is found', async () => (await titles(page)).join() === 'Number 777');
  assert.ok(Date.now() - began < 2000, `it took ${Date.now() - began} ms to find a session of 1,000`);
  await page.goto(`${site.base}/#/s/oldest`);
  await page.getByRole('heading', { level: 1, name: 'The oldest of all' }).waitFor();
  await page.locator('.top .agent', { hasText: 'echo' }).waitFor();
  await page.say('still here');
  await page.getByText('still here').first().waitFor();
  await until('its turn is over', async () => (await session('oldest')).outcome === 'completed');
  await page.leave();
});
