import { reply, sameInHistory, talk, untilQuestion } from '../lib/asking.mjs';
import { questionsOf, textOf } from '../lib/message.mjs';

// evidence: promise-stock-answer
export default {
  order: 20,
  about: 'three questions at once: one POST after the last answer',
  async run(t) {
    const chat = await talk(t);
    await untilQuestion(t, chat, 'several');
    const [colour, fish, name, ...more] = questionsOf(chat.last);
    t.must('all are shown at once', colour && fish && name && !more.length, JSON.stringify(chat.last.parts));
    reply(chat, name, 'Rhine');
    await t.calm(chat, 1, 'the first answer');
    reply(chat, fish, ['pike', 'eel']);
    await t.calm(chat, 1, 'the second answer');
    reply(chat, colour, 'blue');
    await t.calm(chat, 2, 'the last answer');
    t.check('the agent hears all', textOf(chat.last).endsWith('You said: blue; pike, eel; Rhine.'), textOf(chat.last));
    await sameInHistory(t, chat);
  },
};
