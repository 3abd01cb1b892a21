import { press, untilAsked, withoutApprovals } from '../lib/asking.mjs';
import { requestOf, textOf } from '../lib/message.mjs';

export default {
  order: 16,
  about: 'an app that sends no answers by itself: the button decides, the next message is a prompt of its own',
  skip: withoutApprovals,
  async run(t) {
    for (const approved of [true, false]) {
      const id = `${t.id}-${approved}`,
        said = approved ? 'allowed' : 'denied';
      const chat = await t.open({ id });
      const request = await untilAsked(t, chat, 'approve');
      press(chat, request, approved);
      await t.calm(chat, 1, `${said}: the button sends nothing`, id);
      chat.send('think now');
      await t.calm(chat, 2, said, id);
      t.equal(
        `${said}: the message has an answer of its own`,
        chat.messages.map(m => m.role),
        ['user', 'assistant', 'user', 'assistant'],
      );
      t.check(`${said}: to what it says`, textOf(chat.last).includes('the answer is yes'), textOf(chat.last));
      t.equal(
        `${said}: the button has decided`,
        (await t.trace('permission_response', id)).map(r => r.payload.chosen_option),
        [approved ? 'allow' : 'deny'],
      );
      const history = await t.history(id);
      t.check(
        `${said}: the first turn has gone on`,
        textOf(history[1]).endsWith(approved ? 'I was allowed to run it: echo hello' : 'it was denied.'),
        textOf(history[1]),
      );
      t.equal(`${said}: nothing is asked any more`, requestOf(history[1]), undefined);
    }
  },
};
