import { begin, theirs } from '../../lib/agentops.mjs';
import { textOf } from '../../lib/message.mjs';

export default {
  about: '2,000 deltas through two gateways: none lost, none twice',
  async run(t) {
    await begin(t);
    const chat = await t.open();
    chat.send('long');
    await chat.settled(60000);
    t.well(chat);
    const there = textOf((await theirs(t)).at(-1));
    t.check('it is long', there.split(' ').length >= 2000, there.split(' ').length);
    t.equal('the page has all of it', textOf(chat.last), there);
    t.equal('history has all of it', textOf((await t.history()).at(-1)), there);
  },
};
