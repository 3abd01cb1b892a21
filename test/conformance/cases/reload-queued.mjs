import { setTimeout as sleep } from 'node:timers/promises';
import { follow } from '../lib/second-tab.mjs';
import { textOf } from '../lib/message.mjs';

// evidence: promise-prompt-once promise-tabs
export default {
  order: 1,
  about: 'the page is gone while a second prompt waits; the new page resumes the first turn, and the second one still runs and is shown',
  async run(t) {
    const before = await t.open();
    before.send('slow 200'); // it is not over when the page is there again, also on a slow machine
    await before.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    before.send('hello');
    for (let n = 0; n < 3; n = (await t.history()).length) await sleep(50); // until the second prompt is on record
    t.drop();
    const page = await t.reload();
    const end = follow(
      t.id,
      () => page.held(),
      () => t.history(),
    );
    try {
      await t.resumed(page);
      await page.until('the second answer is shown', c => c.messages.length === 4 && textOf(c.last).startsWith('Hello'));
      await page.settled();
      t.well(page);
      const history = await t.history();
      t.equal(
        'both prompts ran',
        history.map(m => [m.role, m.metadata?.outcome ?? 'well']),
        [
          ['user', 'well'],
          ['assistant', 'well'],
          ['user', 'well'],
          ['assistant', 'well'],
        ],
      );
      t.equal(
        'the page shows the history',
        page.messages.map(m => [m.id, textOf(m)]),
        history.map(m => [m.id, textOf(m)]),
      );
    } finally {
      end();
    }
  },
};
