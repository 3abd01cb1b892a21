import { talk, untilQuestion } from '../lib/asking.mjs';
import { questionOf, textOf } from '../lib/message.mjs';

export default {
  order: 16,
  about: 'a question answered by the next message, in an app with buttons and in one without',
  async run(t) {
    for (const [name, open] of [
      ['with', talk],
      ['without', (_, init) => t.open(init)],
    ]) {
      const id = `${t.id}-${name}`;
      const chat = await open(t, { id });
      await untilQuestion(t, chat, 'ask');
      chat.send('the colour of the sea');
      await t.calm(chat, 2, `${name} buttons`, id);
      t.equal(
        `${name}: the answer is a message of its own`,
        chat.messages.map(m => m.role),
        ['user', 'assistant', 'user', 'assistant'],
      );
      t.equal(`${name}: the agent hears it`, textOf(chat.last), 'You chose the colour of the sea.');
      const page = await t.reload({ id });
      t.equal(
        `${name}: after a reload nothing is asked any more`,
        page.messages.map(m => questionOf(m) ?? null),
        [null, null, null, null],
      );
      t.equal(
        `${name}: history holds what was said`,
        page.messages.map(m => m.id),
        chat.messages.map(m => m.id),
      );
    }
  },
};
