// Many tabs of one browser over HTTP/1.1, where a browser has six connections for an origin.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { until } from '../../lib/site.mjs';
import { begun, read } from './clock.mjs';

const stop = tab => tab.getByRole('button', { name: 'Stop', exact: true });

/** Many tabs beside a signed-in page, more than the six connections, each with a running turn of the agent "patient". All show its words, a stop in one is one, and a tab more opens and works. */
export async function manyTabs(page, address, number) {
  const ids = Array.from({ length: number }, () => randomUUID());
  await page.evaluate(
    ids =>
      Promise.all(
        ids.map(id =>
          fetch('/api/sessions', {
            method: 'POST',
            headers: { 'X-Tributary-Page': localStorage.getItem('tributary-page') },
            body: JSON.stringify({ id, agent: 'patient' }),
          }),
        ),
      ),
    ids,
  );
  const open = async (prompt, hash = '') => {
    const tab = await page.context().newPage();
    await tab.goto(`${address}/${hash}`);
    await tab.locator('textarea').fill(prompt);
    await tab.keyboard.press('Enter');
    return tab;
  };
  const tabs = [];
  for (const id of ids) tabs.push(await open('clock 3000', `#/s/${id}`));
  await Promise.all(tabs.map(begun));
  const seen = await Promise.all(tabs.map(async tab => (await read(tab)).length));
  await Promise.all(tabs.map((tab, i) => until(`tab ${i + 1} shows more words`, async () => (await read(tab)).length > seen[i])));
  await stop(tabs[4]).click();
  await stop(tabs[4]).waitFor({ state: 'detached' });
  const one = await open('hello');
  await one.getByText('I am the demo agent').waitFor();
  for (const [i, tab] of tabs.entries()) assert.equal(await stop(tab).count(), i === 4 ? 0 : 1, `tab ${i + 1} has a turn that runs`);
}
