import { plain, textOf } from '../lib/message.mjs';

// evidence: promise-resume
export default {
  order: 1,
  about: 'a second page opens in mid-turn and sees the same; neither disturbs the other',
  async run(t) {
    const first = await t.open();
    first.send('slow');
    await first.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    const second = await t.open({ messages: (await t.history()).filter(m => m.role === 'user'), resume: true });
    if (t.way === 'chat') second.resume();
    await t.resumed(second);
    await first.settled();
    t.well(first, 'the first page ends without an error');
    t.well(second, 'the second page ends without an error');
    t.equal('both show the same', plain(second.messages), plain(first.messages));
    t.equal(
      'the prompt is run once',
      (await t.history()).map(m => m.role),
      ['user', 'assistant'],
    );
  },
};
