import { begin } from '../../lib/agentops.mjs';
import { reply, talk, untilQuestion } from '../../lib/asking.mjs';
import { textOf } from '../../lib/message.mjs';

export default {
  about: 'a question, through two gateways: a choice, then any text',
  async run(t) {
    await begin(t);
    const chat = await talk(t);
    for (const [prompt, answer] of [
      ['ask', 'blue'],
      ['freely', 'whatever you like'],
    ]) {
      const question = await untilQuestion(t, chat, prompt, `${prompt}: the page shows the question`);
      const message = chat.last.id;
      reply(chat, question, answer);
      await chat.settled();
      t.well(chat, `${prompt}: ends without an error`);
      t.equal(`${prompt}: under the same message`, chat.last.id, message);
      t.check(`${prompt}: the agent heard it`, textOf(chat.last).includes(answer), textOf(chat.last));
    }
  },
};
