import { reply, talk, untilQuestion } from '../lib/asking.mjs';
import { questionOf, textOf } from '../lib/message.mjs';

export default {
  order: 17,
  about: 'a question that a person answers while the page asks for the running turn',
  async run(t) {
    await untilQuestion(t, await talk(t), 'ask');
    const page = await talk(t, { messages: await t.history() });
    const release = t.holdResume();
    page.resume();
    await page.until('the page asks for the turn', () => t.requests().some(r => r.method === 'GET'));
    reply(page, questionOf(page.last), 'blue');
    release();
    await page.settled();
    if (!t.check('the answer is sent', t.posts() === 2, `${t.posts()} POSTs`)) return;
    await t.until(async () => textOf((await t.history()).at(-1)).endsWith('You chose blue.')); // 7.0.173 may show it after a reload only
  },
};
