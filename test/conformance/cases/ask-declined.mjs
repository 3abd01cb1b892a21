import { sameInHistory, talk, untilQuestion } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

export default {
  order: 20,
  about: 'a question that the user declines: addToolOutput({state: output-error})',
  skip: ({ client }) => (client.name === '5.0.0' ? 'addToolResult of this release knows no errors' : null),
  async run(t) {
    const chat = await talk(t);
    const question = await untilQuestion(t, chat, 'ask');
    chat.answer({ tool: 'AskUser', toolCallId: question.toolCallId, state: 'output-error', errorText: 'I would rather not say.' });
    await t.calm(chat, 2, 'declined');
    t.check('the agent hears it', textOf(chat.last).endsWith('Nobody answered, so I take no colour.'), textOf(chat.last));
    t.equal(
      'it is on record',
      (await t.trace('answer')).map(r => r.payload.outcome),
      ['canceled'],
    );
    await sameInHistory(t, chat);
  },
};
