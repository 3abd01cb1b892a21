import { untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { requestOf, textOf, toolsOf } from '../lib/message.mjs';

export default {
  order: 16,
  about: "an app without any buttons: the user types yes, no, an option's name, or something else",
  skip: withoutApprovals,
  async run(t) {
    for (const [words, says, state] of [
      ['yes', 'I was allowed to run it: echo hello', ['output-available']],
      ['No.', 'I did not run the command: it was denied.', ['output-denied', 'output-error']],
      ['allow', 'I was allowed to run it: echo hello', ['output-available']],
      ['always', 'no word of yours names one', null], // never by typing: that takes a choice
      ['hello instead', 'Hello!', null],
    ]) {
      const id = `${t.id}-${words.replace(/\W/g, '')}`;
      const chat = await t.open({ id });
      const request = await untilAsked(t, chat, 'approve');
      chat.send(words);
      await t.calm(chat, 2, words, id);
      t.equal(
        `${words}: the answer is a message of its own`,
        chat.messages.map(m => m.role),
        ['user', 'assistant', 'user', 'assistant'],
      );
      t.check(`${words}: it says so`, textOf(chat.last).includes(says), textOf(chat.last));
      if (state)
        t.check(
          `${words}: the call ends there`,
          state.includes(toolsOf(chat.last).find(p => p.toolName === 'shell')?.state),
          JSON.stringify(chat.last.parts),
        );
      const page = await t.reload({ id });
      t.equal(
        `${words}: after a reload nothing is asked any more`,
        page.messages.map(m => requestOf(m)),
        [undefined, undefined, undefined, undefined],
      );
      t.check(
        `${words}: nor allowed that was not`,
        state?.includes('output-available') || verdict(page.messages[1], request) !== 'allowed',
        JSON.stringify(page.messages[1]),
      );
      t.equal(`${words}: one answer is on record`, (await t.trace('permission_response', id)).length, 1);
      t.equal(
        `${words}: history holds what was said`,
        page.messages.map(m => m.id),
        chat.messages.map(m => m.id),
      );
    }
  },
};
