// What waits for the receivers of exporters, and why.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits } from './lib/views.mjs';

useChromium();
let takes = false;
const receiver = createServer((req, res) => {
  req.resume();
  req.on('end', () => (takes ? res.writeHead(200).end() : res.writeHead(401).end('{"message":"Invalid credentials"}')));
});
await new Promise(listening => receiver.listen(0, '127.0.0.1', listening));
after(() => receiver.close());
const site = useGateway(`agents: {demo: {}}\nexporters: {langfuse: {url: "http://127.0.0.1:${receiver.address().port}"}}\n`);

test('an admin sees which turns wait for a receiver, why, and that they have gone', async () => {
  await site.post('/api/chat', { id: 'one', messages: [{ id: 'u-1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }] });
  const page = await open(site);
  await page.locator('.account button').click();
  await page.getByRole('menuitem', { name: 'Exporters…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Exporters' });
  await until('the receiver has refused the turn', async () => {
    await dialog.getByRole('button', { name: 'Refresh' }).click();
    return (await dialog.getByText('1 turn waiting').count()) && dialog.getByText(/does not accept the key/).count();
  });
  await dialog
    .getByRole('region', { name: 'langfuse' })
    .getByText(`http://127.0.0.1:${receiver.address().port}`, { exact: true })
    .waitFor();
  await accessible(page, 'exporters');
  await fits(page);
  takes = true;
  await until('the turn has gone', async () => {
    await dialog.getByRole('button', { name: 'Refresh' }).click();
    return dialog.getByText('1 turn sent since the start of the gateway, none waits').count();
  });
  assert.equal(await dialog.getByText(/does not accept the key/).count(), 0);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.leave();
});
