// Many tabs of one browser by plain HTTP/1.1, as `tributary serve` has it. first-use/proxies.test.mjs has the same behind proxies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, until, useChromium, useGateway } from './lib/page.mjs';
import { twelveTabs } from './lib/tabs.mjs';
import { overWire } from './lib/wire.mjs';

useChromium();
const site = useGateway('agents: {demo: {options: {pace: 250ms}}}\n');

test('twelve tabs with a running turn each have one connection for all their streams', async () => {
  const wire = await overWire(site),
    page = await open(wire);
  await page.getByRole('textbox', { name: 'Your message' }).waitFor();
  const t = Date.now();
  const tabs = await twelveTabs(page.context(), wire.base);
  console.log('took', Date.now() - t, 'connections', wire.connections());
  await page.leave();
});
