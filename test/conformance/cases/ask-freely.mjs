import { reply, sameInHistory, talk, untilQuestion } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

export default {
  order: 20,
  about: 'a question that takes any text, answered by the tool part',
  async run(t) {
    const chat = await talk(t);
    const question = await untilQuestion(t, chat, 'freely');
    t.equal('it has no choices', question.input?.choices, undefined);
    reply(chat, question, 'Old "Father" Rhine 🌊');
    await t.calm(chat, 2, 'answered');
    t.check('the agent hears it', textOf(chat.last).endsWith('I shall call it Old "Father" Rhine 🌊.'), textOf(chat.last));
    const [answer] = await t.trace('answer');
    t.check(
      'it is on record, with who',
      answer?.payload.by && answer.payload.values[0] === 'Old "Father" Rhine 🌊',
      JSON.stringify(answer),
    );
    await sameInHistory(t, chat);
  },
};
