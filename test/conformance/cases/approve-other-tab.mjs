import { decide, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

// evidence: promise-one-answer
export default {
  order: 17,
  about:
    'answered in another tab; the first, which has not heard of it, answers too, the same or otherwise: it gets the rest, and the truth',
  skip: withoutApprovals,
  async run(t) {
    for (const [agrees, word] of [
      [true, 'the same'],
      [false, 'otherwise'],
    ]) {
      const id = `${t.id}-${agrees}`;
      const first = await talk(t, { id });
      const request = await untilAsked(t, first, 'approve');
      const second = await talk(t, { id, messages: await t.history(id) });
      decide(t, second, request, true);
      await t.calm(second, 2, `${word}: the second tab`, id);
      t.equal(`${word}: the second tab says so`, verdict(second.last, request), 'allowed');
      t.equal(`${word}: the first has not heard of it`, [first.status, first.messages.length], ['ready', 2]);
      decide(t, first, request, agrees, agrees ? {} : { reason: 'no' });
      await t.calm(first, 3, `${word}: the first tab`, id);
      t.equal(`${word}: the first tab says what is true`, verdict(first.last, request), 'allowed');
      const approval = first.last.parts.find(p => p.approval)?.approval;
      t.check(`${word}: it shows no other answer`, approval?.approved !== false, JSON.stringify(approval));
      t.check(`${word}: it has the rest`, textOf(first.last).endsWith('I was allowed to run it: echo hello'), textOf(first.last));
      t.equal(
        `${word}: the first answer counts`,
        (await t.trace('permission_response', id)).map(r => r.payload.chosen_option),
        ['allow'],
      );
    }
  },
};
