import { follow } from '../lib/second-tab.mjs';

// evidence: promise-tabs
export default {
  order: 1,
  about: 'a prompt that a person sends while the tab loads the history again stays on the screen',
  async run(t) {
    const chat = await t.open();
    chat.send('hello');
    await chat.settled();
    let sent = false;
    const end = follow(
      t.id,
      () => chat.held(),
      async () => {
        const history = await t.history();
        if (!sent) {
          sent = true;
          chat.send('hello');
          for (let i = 0; i < 10; i++) await null; // the hook has the prompt, and React has not drawn it
        }
        return history;
      },
    );
    try {
      await chat.until('the second answer is there', c => c.messages.length === 4 && c.status === 'ready');
      await chat.settled();
      t.well(chat);
      t.equal(
        'the screen shows both prompts with their answers',
        chat.messages.map(m => m.id),
        (await t.history()).map(m => m.id),
      );
    } finally {
      end();
    }
  },
};
