// Many tabs of one browser by plain HTTP/1.1, as `tributary serve` has it. first-use/proxies.test.mjs has the same behind proxies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begun, read } from './lib/clock.mjs';
import { launch, open, openIn, until, useChromium, useGateway } from './lib/page.mjs';
import { manyTabs } from './lib/tabs.mjs';
import { overWire } from './lib/wire.mjs';

useChromium();
// What many tabs show while they are opened comes slowly, for each word is drawn.
const site = useGateway(
  'agents:\n  demo: {options: {pace: 4ms}}\n  unhurried: {adapter: demo, options: {pace: 100ms}}\n  patient: {adapter: demo, options: {pace: 1s}}\n',
);

const streams = async () => Number(/^tributary_streams (\d+)/m.exec((await site.get('/metrics')).text)[1]);

test('twelve tabs with a running turn each have one connection for all their streams', async () => {
  const wire = await overWire(site),
    page = await open(wire);
  await page.getByRole('textbox', { name: 'Your message' }).waitFor();
  await manyTabs(page, wire.base, 12);
  assert.ok(wire.connections() <= 7, `${wire.connections()} connections: one WebSocket, and those for requests`);
  await page.leave();
});

test('a tab that crashes gives its streams back; a worker that dies costs no words', async () => {
  const browser = await launch();
  try {
    await site.post('/api/sessions', { id: 'long', agent: 'unhurried' });
    const page = await openIn(browser, site, '#/s/long');
    await page.say('clock 3000');
    await begun(page);
    const other = await page.context().newPage();
    await other.goto(`${site.base}/#/s/long`);
    await until('both tabs read the turn', async () => (await streams()) === 2);
    await other.goto('chrome://crash').catch(() => {});
    await until('the stream of the tab is closed', async () => (await streams()) === 1);
    const cdp = await browser.newBrowserCDPSession();
    const worker = async () =>
      (await cdp.send('Target.getTargets', { filter: [{}] })).targetInfos.find(t => t.type === 'shared_worker')?.targetId;
    const before = await worker();
    await cdp.send('Target.closeTarget', { targetId: before });
    await until('another worker is there', async () => ![undefined, before].includes(await worker()));
    const seen = (await read(page)).length;
    await until('the words go on', async () => (await read(page)).length > seen + 20);
    const words = await read(page);
    assert.equal(new Set(words).size, words.length, 'each word stands there once');
    await page.leave();
  } finally {
    await browser.close();
  }
});
