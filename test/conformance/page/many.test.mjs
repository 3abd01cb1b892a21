// A thousand sessions cost the page no more than ten when one is opened or looked for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexed, open, until, useChromium, useGateway } from './lib/page.mjs';

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
  await page.evaluate(() => {
    window.drawn = 0;
    new MutationObserver(all => {
      window.drawn += all.reduce((n, m) => n + m.addedNodes.length, 0);
    }).observe(document.querySelector('nav'), { subtree: true, childList: true });
  });
  const asked = [];
  page.on('request', r => asked.push(new URL(r.url()).search));
  await page.evaluate(() => document.querySelector('[data-session="many-500"]').click());
  await page.getByRole('heading', { level: 1, name: 'Number 500' }).waitFor();
  await page.getByText('What shall the agent do?').waitFor();
  assert.ok(
    (await page.evaluate(() => window.drawn)) < 20,
    `${await page.evaluate(() => window.drawn)} nodes of the list are new when a session is opened`,
  );
  assert.ok(asked.length < 15, `${asked.length} requests open a session`);
  await indexed(site, 'Number 777');
  asked.length = 0;
  await page.getByRole('searchbox', { name: 'Search the sessions' }).fill('Number 777');
  await until('it is found', async () => (await titles(page)).join() === 'Number 777');
  assert.equal(asked.filter(q => q.includes('Number')).length, 1, 'the gateway searches, by one request');
  await page.goto(`${site.base}/#/s/oldest`);
  await page.getByRole('heading', { level: 1, name: 'The oldest of all' }).waitFor();
  await page.locator('.top .agent', { hasText: 'echo' }).waitFor();
  await page.say('still here');
  await page.getByText('still here').first().waitFor();
  await until('its turn is over', async () => (await session('oldest')).outcome === 'completed');
  await page.leave();
});
