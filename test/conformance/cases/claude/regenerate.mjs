import { textOf } from '../../lib/message.mjs';

const quotes = prompts =>
  prompts.length
    ? `Before this you told me:${prompts.map((p, i) => `\n${i + 1}. ${JSON.stringify(p)}`).join('')}`
    : 'You have told me nothing before this.';

export default {
  about: 'regenerate and edit: removed messages are not sent to the model any more',
  async run(t) {
    const one = 'My name is Ada. [[script:plain]]',
      two = 'And I am here. [[script:plain]]',
      recall = 'What do you know? [[script:recall]]';
    const chat = await t.open();
    for (const prompt of [one, two, recall]) {
      chat.send(prompt);
      await chat.settled();
      t.must('the turns before it end without an error', chat.status === 'ready', chat.error?.message);
    }
    t.equal('the model knows what was said', textOf(chat.last), quotes([one, two]));
    chat.regenerate();
    await chat.settled();
    t.well(chat, 'the answer is written anew');
    t.equal('the model has heard nothing twice', textOf(chat.last), quotes([one, two]));
    chat.send(recall, { messageId: chat.messages[2].id });
    await chat.settled();
    t.well(chat, 'the edit is answered');
    t.equal('an edit: what the old text said is gone', textOf(chat.last), quotes([one]));
    const page = await t.reload();
    page.regenerate({ messageId: page.messages[0].id });
    await page.settled();
    t.well(page, 'the first answer is written anew');
    page.send(recall, { messageId: page.messages[0].id });
    await page.settled();
    t.equal('an edit of the first: the model knows nothing', textOf(page.last), quotes([]));
    t.equal(
      'history shows what the screen shows',
      (await t.history()).map(m => m.id),
      page.messages.map(m => m.id),
    );
    t.check('nobody was told that the agent remembers', !JSON.stringify(await t.history()).includes('data-notice'));
  },
};
