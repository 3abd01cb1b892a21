import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf, toolsOf } from '../lib/message.mjs';

// evidence: promise-stock-answer
export default {
  order: 19,
  about: 'a request beside a call that still runs, and that ends after or before the answer: the answer is sent all the same',
  skip: withoutApprovals,
  async run(t) {
    for (const word of ['beside', 'meanwhile']) {
      const id = `${t.id}-${word}`;
      const chat = await talk(t, { id });
      const request = await untilAsked(t, chat, word, `${word}: the page shows the request`);
      if (word === 'meanwhile') await t.until(async () => (await t.trace('tool_result', id)).length > 0);
      decide(t, chat, request, true);
      await t.calm(chat, 2, word, id);
      t.equal(`${word}: the screen says so`, verdict(chat.last, request), 'allowed');
      t.equal(
        `${word}: every call has its output, and none is there twice`,
        toolsOf(chat.last)
          .filter(p => ['shell', 'read_file'].includes(p.toolName))
          .map(p => [p.toolName, p.state]),
        [
          ['read_file', 'output-available'],
          ['shell', 'output-available'],
        ],
      );
      t.check(`${word}: text follows`, textOf(chat.last).endsWith('I was allowed to run it: echo hello'), textOf(chat.last));
      await sameInHistory(t, chat, `${word}: history shows the same`, id);
    }
  },
};
