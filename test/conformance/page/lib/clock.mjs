// Answers of the demo agent whose words are all different, so that a lost or a doubled one shows: its script clock.
import assert from 'node:assert/strict';
import { until } from '../../lib/site.mjs';

export const words = text => text.match(/\d{19}/g) ?? [];

export const answers = page => page.locator('article.agent-says');
/** The words of the newest answer on the page. */
export const read = async page =>
  words(
    await answers(page)
      .last()
      .textContent()
      .catch(() => ''),
  );
/** The words of the newest answer in the log. */
export const told = async (side, id) =>
  words(
    (await side.history(id))
      .findLast(m => m.role === 'assistant')
      .parts.map(p => p.text ?? '')
      .join(' '),
  );

export const begun = page => until('the answer has begun', async () => (await read(page)).length > 5);

/** Waits for the end of the turn. The answer has so many words, and each of them is on the page once. */
export async function whole(page, side, id, number) {
  await until('the turn is over', async () => (await side.get(`/api/sessions/${id}`)).json.state === 'idle', 60_000);
  await page.locator('[role=log][aria-busy=false]').waitFor();
  const all = await told(side, id);
  assert.equal(all.length, number);
  await until('the answer is whole', async () => (await read(page)).length >= number);
  assert.deepEqual(await read(page), all, 'each word is there once');
}

/** Takes a picture where the variable SHOTS names a folder. */
export const shot = (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
