// A page that loses its network in mid-turn, for as long as the page tries again several times.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, begun, read, shot, whole } from './lib/clock.mjs';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits } from './lib/views.mjs';
import { overWire } from './lib/wire.mjs';

useChromium();
const site = useGateway('agents:\n  demo: {}\n  steady: {adapter: demo, options: {pace: 100ms}}\nsessions: {on_disconnect: detach}\n');

const field = page => page.getByRole('textbox', { name: 'Your message' });

test('a network that is away in mid-turn while the page tries again and again: the page says so, keeps what is written and what was sent, and the answer is whole afterwards', async () => {
  const wire = await overWire(site);
  await site.post('/api/sessions', { id: 'minute', title: 'Minute', agent: 'steady' });
  const page = await open(wire, '#/s/minute');
  await page.say('clock 300'); // 30 s of words, each another one
  await begun(page);
  wire.cut();
  await page.getByText('The gateway cannot be reached. Trying again…').waitFor();
  await shot(page, 'lost-1-away');
  const seen = await read(page);
  assert.ok(seen.length > 5, 'what was read stays');
  await field(page).fill('sent without a network');
  await page.keyboard.press('Enter');
  await until('the prompt is a draft again', async () => (await field(page).inputValue()) === 'sent without a network');
  await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor();
  await field(page).fill('a draft of the time without a network');
  await accessible(page, 'a page without a network');
  await fits(page);
  await shot(page, 'lost-2-refused');
  const tries = wire.refused();
  await until('the page has tried again several times', () => wire.refused() >= tries + 5);
  await page.getByText('The gateway cannot be reached. Trying again…').waitFor();
  wire.mend();
  await page.getByText('Trying again…').waitFor({ state: 'detached', timeout: 60_000 }); // it tries again after half a minute at most
  await until('the answer goes on', async () => (await read(page)).length > seen.length + 20);
  await shot(page, 'lost-3-back');
  await whole(page, site, 'minute', 300);
  assert.equal(await answers(page).count(), 1);
  await until('no sentence of the bad minute stays', async () => (await page.getByRole('alert').count()) === 0);
  assert.equal(await field(page).inputValue(), 'a draft of the time without a network');
  await page.leave();
});
