// Many tabs of one browser over HTTP/1.1, where a browser has six connections for an origin.
import assert from 'node:assert/strict';
import { until } from '../../lib/site.mjs';
import { begun, read } from './clock.mjs';

const stop = tab => tab.getByRole('button', { name: 'Stop', exact: true });

/** Twelve tabs of a signed-in context, each with a turn that runs. All show its words at once, a stop in one is one, and a tab more opens and works. */
export async function twelveTabs(context, address) {
  const open = async prompt => {
    const tab = await context.newPage();
    tab.setDefaultTimeout(10_000);
    await tab.goto(address);
    await tab.locator('textarea').fill(prompt);
    await tab.keyboard.press('Enter');
    return tab;
  };
  const tabs = [];
  for (let i = 0; i < 12; i++) tabs.push(await open('clock 3000'));
  await Promise.all(tabs.map(begun));
  const seen = await Promise.all(tabs.map(async tab => (await read(tab)).length));
  await Promise.all(tabs.map((tab, i) => until(`tab ${i + 1} shows more words`, async () => (await read(tab)).length > seen[i], 10_000)));
  await stop(tabs[4]).click();
  await stop(tabs[4]).waitFor({ state: 'detached' });
  const one = await open('hello');
  await one.getByText('I am the demo agent').waitFor();
  for (const [i, tab] of tabs.entries()) assert.equal(await stop(tab).count(), i === 4 ? 0 : 1, `tab ${i + 1} has a turn that runs`);
  return tabs;
}
