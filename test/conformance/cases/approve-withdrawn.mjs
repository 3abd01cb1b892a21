import { decide, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

// evidence: promise-one-answer
export default {
  order: 3,
  about: 'the agent withdraws its request: a later answer does not count, and gets the rest of the message',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const request = await untilAsked(t, chat, 'withdraw');
    await t.until(async () => (await t.trace('stop')).length > 0);
    decide(t, chat, request, true);
    await t.calm(chat, 2, 'too late');
    t.check('the call was not allowed', verdict(chat.last, request) !== 'allowed', verdict(chat.last, request));
    t.check(
      'the agent did not run it',
      textOf(chat.last).endsWith('I did not run the command: the request was withdrawn.'),
      textOf(chat.last),
    );
    t.equal(
      'the withdrawal is on record, and nothing else',
      (await t.trace('permission_response')).map(r => [r.payload.outcome, r.payload.by ?? '', r.actor]),
      [['canceled', '', 'gateway']],
    );
  },
};
