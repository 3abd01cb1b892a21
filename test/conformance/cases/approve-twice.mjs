import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

// evidence: promise-stock-answer
export default {
  order: 19,
  about: 'a second request later in the turn: the same message waits again',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const one = await untilAsked(t, chat, 'twice');
    const message = chat.last.id;
    decide(t, chat, one, false, { reason: 'not that one' });
    const two = await untilAsked(t, chat, null, 'the second request is shown');
    t.check('it is another one', one !== two, one);
    decide(t, chat, two, true);
    await t.calm(chat, 3, 'twice');
    t.equal('the same message goes on', [chat.messages.length, chat.last.id], [2, message]);
    t.equal('the screen says so', [verdict(chat.last, one), verdict(chat.last, two)], ['denied', 'allowed']);
    t.check('the agent hears both', /not that one\.[\s\S]*allowed to run it: echo two$/.test(textOf(chat.last)), textOf(chat.last));
    await sameInHistory(t, chat);
  },
};
