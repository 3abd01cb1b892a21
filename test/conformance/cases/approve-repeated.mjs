import { decide, press, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

// evidence: promise-one-answer
export default {
  order: 17,
  about: 'a double click, and an answer whose response was lost and that is sent again: it counts once, and the rest comes again',
  skip: withoutApprovals,
  async run(t) {
    const twice = `${t.id}-twice`,
      again = `${t.id}-again`;
    const chat = await talk(t, { id: twice });
    const request = await untilAsked(t, chat, 'approve');
    decide(t, chat, request, true);
    press(chat, request, false);
    await t.calm(chat, 2, 'a double click', twice);
    t.equal(
      'a double click: the first counts',
      [verdict(chat.last, request), (await t.trace('permission_response', twice)).length],
      ['allowed', 1],
    );

    const other = await talk(t, { id: again });
    const lost = await untilAsked(t, other, 'approve');
    const message = other.last.id;
    decide(t, other, lost, true);
    await other.until('the answer is on its way', () => t.posts(again) === 2);
    t.drop(again);
    await other.settled();
    const posts = t.posts(again),
      cut = other.status === 'error';
    t.check('sent again: no loop', posts <= 3, posts); // 5.0.0 sends it again by itself
    if (cut) other.send(); // as an app's retry does
    await t.calm(other, cut ? posts + 1 : posts, 'sent again', again);
    t.equal('sent again: the same message goes on', [other.messages.length, other.last.id], [2, message]);
    t.equal('sent again: the screen says so', verdict(other.last, lost), 'allowed');
    t.check('sent again: text follows', textOf(other.last).endsWith('I was allowed to run it: echo hello'), textOf(other.last));
    t.equal('sent again: one answer is on record', (await t.trace('permission_response', again)).length, 1);
    await sameInHistory(t, other, 'sent again: history shows the same', again);
  },
};
