import { decide, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';

export default {
  order: 20,
  about: 'a refusal that ends the turn: nothing more is said, and the next prompt works',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const request = await untilAsked(t, chat, 'approve');
    decide(t, chat, request, false, { reason: 'stop it', interrupt: true });
    await t.calm(chat, 2, 'interrupted');
    t.equal('the screen says so', verdict(chat.last, request), 'denied');
    t.equal('history says canceled', (await t.history()).at(-1).metadata?.outcome, 'canceled');
    t.equal(
      'it is on record',
      (await t.trace('permission_response')).map(r => [r.payload.interrupt, r.payload.reason]),
      [[true, 'stop it']],
    );
    chat.send('hello');
    await t.calm(chat, 3, 'the next prompt');
    t.equal(
      'it has an answer of its own',
      chat.messages.map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
  },
};
