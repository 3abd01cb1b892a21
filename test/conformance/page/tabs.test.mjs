// Many tabs of one browser by plain HTTP/1.1, as `tributary serve` has it. first-use/proxies.test.mjs has the same behind proxies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, useChromium, useGateway } from './lib/page.mjs';
import { twelveTabs } from './lib/tabs.mjs';
import { overWire } from './lib/wire.mjs';

useChromium();
const site = useGateway();

test('twelve tabs with a running turn each have one connection for all their streams', async () => {
  const wire = await overWire(site),
    page = await open(wire);
  await page.getByRole('textbox', { name: 'Your message' }).waitFor();
  await twelveTabs(page, wire.base);
  assert.ok(wire.connections() <= 7, `${wire.connections()} connections: one WebSocket, and those for requests`);
  await page.leave();
});
