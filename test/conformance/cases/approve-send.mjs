import { press, sameInHistory, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';

// evidence: promise-stock-answer
export default {
  order: 20,
  about: 'an app that sends no answers by itself calls sendMessage() without a message after the click',
  skip: withoutApprovals,
  async run(t) {
    const chat = await t.open();
    const request = await untilAsked(t, chat, 'approve');
    const message = chat.last.id;
    press(chat, request, true);
    await t.calm(chat, 1, 'the button sends nothing');
    chat.send();
    await t.calm(chat, 2, 'sent');
    t.equal('the same message goes on', [chat.messages.length, chat.last.id], [2, message]);
    t.equal('the screen says so', verdict(chat.last, request), 'allowed');
    await sameInHistory(t, chat);
  },
};
