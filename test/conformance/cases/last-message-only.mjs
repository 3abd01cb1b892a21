import { assistants, textOf } from '../lib/message.mjs';

export default {
  order: 13,
  about: 'the documented transport that sends only the last message: {message, id}',
  async run(t) {
    const transport = t.transport({ prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, message: messages.at(-1) } }) });
    const chat = await t.open({ transport });
    for (const word of ['hello', 'tool']) {
      chat.send(word);
      await chat.settled();
      t.well(chat, `${word} ends without an error`);
    }
    t.check(
      'the body held one message',
      t.requests().every(r => r.body.message && !r.body.messages),
    );
    t.check('both answers hold text', assistants(chat.messages).every(m => textOf(m).length > 0) && chat.messages.length === 4);
    t.equal(
      'history holds both turns',
      (await t.history()).map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
  },
};
