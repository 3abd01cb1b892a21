import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf, toolsOf } from '../lib/message.mjs';

// evidence: promise-stock-answer
export default {
  order: 19,
  about: 'two requests at the same time, one allowed and one denied: each is answered by itself, both calls end right',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const one = await untilAsked(t, chat, 'both');
    decide(t, chat, one, true);
    const two = await untilAsked(t, chat, null, 'the second request is shown');
    t.check('it is another one', one !== two, one);
    decide(t, chat, two, false);
    await t.calm(chat, 3, 'both');
    t.equal('the screen says so', [verdict(chat.last, one), verdict(chat.last, two)], ['allowed', 'denied']);
    const shells = toolsOf(chat.last).filter(p => p.toolName === 'shell');
    t.equal('the first call has run', [shells.length, shells[0]?.state], [2, 'output-available']);
    t.check('the second has not', ['output-denied', 'output-error'].includes(shells[1]?.state), JSON.stringify(shells[1]));
    t.check(
      'the agent hears both',
      textOf(chat.last).endsWith('run it: echo one\n\nI did not run the command: it was denied.'),
      textOf(chat.last),
    );
    await sameInHistory(t, chat);
  },
};
