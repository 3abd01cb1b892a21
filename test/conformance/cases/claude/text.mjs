import { textOf } from '../../lib/message.mjs';
import { SLOW_TEXT, say, slow } from '../../lib/script.mjs';

const SAID = 'Grüße aus Zürich! 👩‍🚀 é – 日本語, עברית, "quotes" and **bold**.';

export default {
  about: 'text streams: it is on screen while it grows, and whole at the end, letter by letter as the model said it',
  async run(t) {
    const chat = await t.open(),
      seen = new Set();
    chat.watch(c => {
      if (c.messages.at(-1)?.role === 'assistant') seen.add(textOf(c.messages.at(-1)));
    });
    chat.send(slow(20));
    await chat.settled();
    t.well(chat);
    t.equal('the text is what the model said', textOf(chat.last), SLOW_TEXT);
    const partial = [...seen].filter(s => s && s !== SLOW_TEXT);
    t.check('it is shown in many pieces', partial.length >= 3, `${partial.length} states between nothing and all`);
    t.check(
      'nothing that was shown is taken back',
      partial.every(s => SLOW_TEXT.startsWith(s)),
      JSON.stringify(partial),
    );
    chat.send(say(SAID));
    await chat.settled();
    t.well(chat, 'the second turn ends without an error');
    t.equal('no character is torn', textOf(chat.last), SAID);
    t.equal(
      'each turn is one text part',
      chat.messages.map(m => m.parts.filter(p => p.type === 'text').map(p => p.state ?? 'done')),
      [['done'], ['done'], ['done'], ['done']],
    );
    t.equal('no request was sent by itself', t.requests().length, 2);
  },
};
