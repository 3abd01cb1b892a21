import { follow } from '../lib/second-tab.mjs';
import { plain, textOf } from '../lib/message.mjs';

// evidence: promise-tabs
export default {
  order: 1,
  about: "a second tab learns of the first one's turn, reads the history and resumes; then the other way round",
  async run(t) {
    const first = await t.open();
    first.send('hello');
    await first.settled();
    const second = await t.open();
    const tabs = [first, second].map(tab =>
      follow(
        t.id,
        () => tab.held(),
        () => t.history(),
      ),
    );
    try {
      await second.until('the second tab shows what there is', c => c.messages.length === 2);
      t.equal('both show the same at first', plain(second.messages), plain(first.messages));
      const shows = tab => tab.messages.length === 4 && textOf(tab.last).length > 20;
      first.send('slow');
      await second.until('the second tab shows some of the answer', shows);
      t.check('it does so while the answer is written', first.status === 'streaming', first.status);
      await first.settled();
      await second.settled();
      t.well(second, 'the second tab ends without an error');
      t.equal('both show the same', plain(second.messages), plain(first.messages));

      second.send('hello');
      await second.settled();
      await first.until(
        "the first tab shows the second one's turn",
        c => c.messages.length === 6 && textOf(c.last) === textOf(second.last),
      );
      await first.settled();
      t.well(first, 'the first tab ends without an error');
      t.equal('both show the same again', plain(first.messages), plain(second.messages));
      t.equal(
        'that is the history',
        first.messages.map(m => m.id),
        (await t.history()).map(m => m.id),
      );
    } finally {
      for (const end of tabs) end();
    }
  },
};
