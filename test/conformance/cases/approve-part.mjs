import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { requestPart, textOf } from '../lib/message.mjs';

// evidence: promise-one-answer
export default {
  order: 18,
  about: 'an approval answered by the tool part: the client POSTs by itself, the same message goes on; who answered is on record',
  skip: withoutApprovals,
  async run(t) {
    for (const approved of [true, false]) {
      const id = `${t.id}-${approved}`,
        said = approved ? 'allowed' : 'denied';
      const chat = await talk(t, { id });
      const request = await untilAsked(t, chat, 'approve');
      const message = chat.last.id;
      decide({ client: { approves: true } }, chat, request, approved, approved ? {} : { reason: 'not today' });
      await t.calm(chat, 2, said, id);
      t.equal(`${said}: the same message goes on`, [chat.messages.length, chat.last.id], [2, message]);
      t.equal(`${said}: the screen says so`, verdict(chat.last, request), said);
      const rest = textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(requestPart(chat.last, request))) });
      t.check(
        `${said}: the agent hears it`,
        rest.endsWith(approved ? 'I was allowed to run it: echo hello' : 'I did not run the command: not today.'),
        rest,
      );
      await sameInHistory(t, chat, `${said}: history shows the same`, id);
      const records = await t.trace('permission_response', id);
      t.equal(
        `${said}: one answer is on record`,
        records.map(r => [r.payload.request_id, r.payload.outcome, r.payload.chosen_option, r.payload.reason ?? '']),
        [[request, 'selected', approved ? 'allow' : 'deny', approved ? '' : 'not today']],
      );
      t.check(
        `${said}: with who and when`,
        records[0]?.payload.by && records[0]?.ts && records[0]?.actor === 'user',
        JSON.stringify(records[0]),
      );
    }
  },
};
