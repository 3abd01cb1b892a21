import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

export default {
  order: 20,
  about: 'an approval for always: the option goes with the answer, in the body or as the output',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const request = await untilAsked(t, chat, 'approve');
    decide(t, chat, request, true, { option: 'always' });
    await t.calm(chat, 2, 'always');
    t.equal('the screen says so', verdict(chat.last, request), 'allowed');
    t.check('the agent hears it', textOf(chat.last).includes('I am always allowed to run it'), textOf(chat.last));
    t.equal(
      'it is on record',
      (await t.trace('permission_response')).map(r => [r.payload.chosen_option, r.payload.option_kind]),
      [['always', 'allow_always']],
    );
    await sameInHistory(t, chat);
  },
};
