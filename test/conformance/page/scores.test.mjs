// What graders found in a turn, below its answer.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shot } from './lib/clock.mjs';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits, VIEWS } from './lib/views.mjs';

useChromium();
const site = useGateway();

const say = (id, text) =>
  site.post('/api/chat', { id, messages: [{ id: `u-${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }] });
/** The turns of a session, in their order. */
const turns = async id => [
  ...new Set(
    (await site.get(`/api/sessions/${id}/trace`)).text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).turn)
      .filter(Boolean),
  ),
];
const record = async (id, ...scores) => assert.equal((await site.post(`/api/sessions/${id}/scores`, { scores })).status, 204);
const answer = (page, n) => page.getByRole('article', { name: 'The agent' }).nth(n);
const chips = (page, n) => answer(page, n).locator('.btn.score');
const panel = page => page.getByRole('dialog', { name: 'What the graders found' });

describe('scores', () => {
  for (const [view, options] of Object.entries(VIEWS))
    test(`stand below the turn that they are about: ${view}`, async () => {
      const id = `graded-${view.slice(0, 4)}`;
      await say(id, 'hello');
      await say(id, 'tool');
      const [first, second] = await turns(id);
      await record(
        id,
        { turn: first, name: 'tests', verdict: 'pass', score: 0.9, reason: '9 of 10 tests passed.', case: 'river' },
        { turn: first, name: 'diff', verdict: 'fail', reason: 'The diff has 120 lines, and 40 are allowed.\u202e' },
        { turn: first, name: `a-grader-with-a-name-of-${'many-'.repeat(12)}words`, verdict: 'unknown' },
        ...Array.from({ length: 10 }, (_, i) => ({
          turn: second,
          name: `check ${i}`,
          verdict: i < 7 ? 'pass' : i < 9 ? 'unknown' : 'fail',
          reason: 'What it looked at is not long. '.repeat(3),
        })),
      );
      const page = await open(site, `#/s/${id}`, options);
      await chips(page, 1).waitFor();
      assert.deepEqual((await chips(page, 0).allTextContents()).slice(0, 2), ['tests 0.9: passed', 'diff: failed']);
      assert.deepEqual(await chips(page, 1).allTextContents(), ['7 of 10 passed']);
      assert.equal(await chips(page, 0).first().getAttribute('title'), '9 of 10 tests passed.');
      await fits(page);
      await accessible(page, 'scores');
      await shot(page, `scores-${view}`);
      await chips(page, 0).nth(1).click();
      await panel(page).getByText('The diff has 120 lines').waitFor();
      await panel(page).getByText('<U+202E>').waitFor();
      await panel(page).getByText('by operator').waitFor();
      await accessible(page, 'a score');
      await shot(page, `score-${view}`);
      await page.keyboard.press('Escape');
      await panel(page).waitFor({ state: 'detached' });
      await chips(page, 1).focus(); // by the keyboard alone
      await page.keyboard.press('Enter');
      await panel(page).getByText('check 9').waitFor();
      assert.match(await panel(page).getByRole('region').locator('p').first().textContent(), /check 9 failed/, 'what failed comes first');
      await fits(page);
      await accessible(page, 'many scores');
      await shot(page, `many-scores-${view}`);
      await page.leave();
    });

  test('that come later are there when a person comes back, and the newest of a grader counts', async () => {
    await say('later', 'hello');
    const [turn] = await turns('later');
    const page = await open(site, '#/s/later');
    await answer(page, 0).getByRole('button', { name: 'Regenerate' }).waitFor();
    const back = () => page.evaluate(() => dispatchEvent(new Event('focus')));
    for (const [verdict, words] of [
      ['fail', 'tests: failed'],
      ['pass', 'tests: passed'],
    ]) {
      await record('later', { turn, name: 'tests', verdict });
      await back();
      await until(words, async () => (await chips(page, 0).allTextContents()).join() === words);
    }
    await page.leave();
  });
});
