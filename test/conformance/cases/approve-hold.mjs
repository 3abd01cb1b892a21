import { decide, talk, verdict, withoutApprovals } from '../lib/asking.mjs';
import { requestOf, textOf } from '../lib/message.mjs';

const HOLD = 'sessions:\n  approval: hold\n  hold_limit: 6s\n';

export default {
  order: 4,
  about: 'streams that are held: the side endpoint answers on the same response; after the limit they pause, and the tool part answers',
  skip: withoutApprovals,
  async run(t) {
    await t.configured(HOLD);
    const side = `${t.id}-side`,
      part = `${t.id}-part`;
    const chat = await talk(t, { id: side });
    chat.send('approve');
    await chat.until('a person is asked', c => requestOf(c.last) !== undefined);
    t.equal(
      'the response goes on',
      t.requests(side).map(r => r.open),
      [true],
    );
    const request = requestOf(chat.last);
    const path = `/api/sessions/${encodeURIComponent(side)}/permissions/${encodeURIComponent(request)}`;
    t.equal('the answer is taken', (await t.site.post(path, { approved: true })).status, 200);
    t.equal('a second one is not', (await t.site.post(path, { approved: false })).status, 409);
    await t.calm(chat, 1, 'by the side endpoint', side);
    t.equal('by the side endpoint: the screen says so', verdict(chat.last, request), 'allowed');
    t.check('by the side endpoint: text follows', textOf(chat.last).endsWith('I was allowed to run it: echo hello'), textOf(chat.last));

    const other = await talk(t, { id: part });
    other.send('approve');
    await other.until('a person is asked', c => requestOf(c.last) !== undefined);
    const later = requestOf(other.last);
    await other.settled(); // the limit
    t.equal('after the limit the response has ended, and asks', [other.status, requestOf(other.last)], ['ready', later]);
    decide(t, other, later, false);
    await t.calm(other, 2, 'by the tool part', part);
    t.equal('by the tool part: the screen says so', verdict(other.last, later), 'denied');
  },
};
