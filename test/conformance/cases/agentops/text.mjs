import { begin, theirs } from '../../lib/agentops.mjs';
import { textOf } from '../../lib/message.mjs';

export default {
  about: 'text, through two gateways: word by word, and the same on both sides',
  async run(t) {
    await begin(t);
    const chat = await t.open();
    const seen = new Set();
    chat.watch(c => {
      if (c.messages.at(-1)?.role === 'assistant') seen.add(textOf(c.messages.at(-1)).length);
    });
    chat.send('hello');
    await chat.settled();
    t.well(chat);
    t.check('there is an answer', textOf(chat.last).startsWith('Hello!'), textOf(chat.last));
    // The class tells every change; React may draw several at once.
    if (t.way === 'chat') t.check('it grows on screen', seen.size > 2, [...seen].join(' '));
    t.equal('the other side said the same', (await theirs(t)).map(textOf), chat.messages.map(textOf));
    t.equal('history here says the same', (await t.history()).map(textOf), chat.messages.map(textOf));
    chat.send('remember');
    await chat.settled();
    t.equal('the second prompt is one of the same conversation', textOf(chat.last), 'Before this you said:\n\n- hello');
  },
};
