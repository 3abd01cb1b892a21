import { decide, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

// evidence: promise-disconnect
export default {
  order: 17,
  about: 'stop() while a request is open has no effect, and the answer still counts; after the explicit stop it gets the end of the turn',
  skip: withoutApprovals,
  async run(t) {
    const soft = `${t.id}-soft`,
      hard = `${t.id}-hard`;
    const chat = await talk(t, { id: soft });
    const request = await untilAsked(t, chat, 'approve');
    await chat.stop();
    decide(t, chat, request, true);
    await t.calm(chat, 2, 'after stop()', soft);
    t.equal('after stop(): the screen says so', verdict(chat.last, request), 'allowed');

    const other = await talk(t, { id: hard });
    const gone = await untilAsked(t, other, 'approve');
    const stopped = await t.stop(hard);
    t.equal('the explicit stop ends the turn', [stopped.status, stopped.json?.stopped], [200, true]);
    decide(t, other, gone, true);
    await t.calm(other, 2, 'after the explicit stop', hard);
    await t.history(hard);
    t.check(
      'after the explicit stop: nothing was allowed',
      !['allowed', 'approval-responded'].includes(verdict(other.last, gone)),
      verdict(other.last, gone),
    );
    t.equal(
      'the withdrawal is on record',
      (await t.trace('permission_response', hard)).map(r => r.payload.outcome),
      ['canceled'],
    );
    other.send('hello');
    await t.calm(other, 3, 'the next prompt', hard);
    t.check('it has its answer', textOf(other.last).startsWith('Hello!'), textOf(other.last));
  },
};
