// The tests of all clients that stop turns and resume them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { over, same } from '../lib/person.mjs';
import { until } from '../lib/site.mjs';

/** A page in the middle of a long answer. */
export async function inMidTurn(it) {
  const p = await it.unhurried();
  await p.say('slow');
  await until('words come', () => p.articles()[1]?.textContent.length > 40);
  return p;
}

export function stopsAndResumes(it) {
  test('stop', async () => {
    const p = await inMidTurn(it);
    await p.press('Stop');
    await over(it.site, p, 'canceled', 1);
    await until('the button is gone', () => !p.has('Stop'));
  });

  test('reload in the middle of a turn', async () => {
    const again = await (await inMidTurn(it)).reload();
    await over(it.site, again, 'completed', 1);
    await same(it.site, again);
    assert.equal(again.articles().length, 2);
  });
}
