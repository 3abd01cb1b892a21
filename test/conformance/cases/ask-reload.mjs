import { reply, sameInHistory, talk, untilQuestion } from '../lib/asking.mjs';
import { questionOf, textOf, toolsOf } from '../lib/message.mjs';

export default {
  order: 17,
  about: 'a question on a page that was reloaded; the old tab does not know the answer, gives another one and gets the first',
  async run(t) {
    const before = await talk(t);
    const question = await untilQuestion(t, before, 'ask');
    const page = await talk(t, { messages: await t.history() });
    t.equal('the question is shown', questionOf(page.last)?.toolCallId, question.toolCallId);
    reply(page, questionOf(page.last), 'blue');
    await t.calm(page, 2, 'after the reload');
    t.check('the agent hears it', textOf(page.last).endsWith('You chose blue.'), textOf(page.last));
    await sameInHistory(t, page);
    reply(before, question, 'green');
    await t.calm(before, 3, 'the old tab');
    t.equal(
      'the old tab says what is true',
      toolsOf(before.last).map(p => p.output),
      ['blue'],
    );
    t.check('it has the rest', textOf(before.last).endsWith('You chose blue.'), textOf(before.last));
    t.equal(
      'the first answer counts',
      (await t.trace('answer')).map(r => r.payload.values),
      [['blue']],
    );
  },
};
