import { textOf } from '../../lib/message.mjs';

export default {
  about: "the second turn knows the first: the agent's own memory, not the posted messages",
  async run(t) {
    const first = 'My name is Ada. [[script:plain]]',
      second = 'And I am here. [[script:plain]]';
    // Only the last message is posted, so that what is remembered can only be the agent's.
    const transport = t.transport({ prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, message: messages.at(-1) } }) });
    const chat = await t.open({ transport });
    for (const prompt of [first, second]) {
      chat.send(prompt);
      await chat.settled();
      t.well(chat, 'the turns before it end without an error');
    }
    const page = await t.reload({ transport });
    page.send('What do you know? [[script:recall]]');
    await page.settled();
    t.well(page);
    t.equal(
      'the agent quotes what was said',
      textOf(page.last),
      `Before this you told me:\n1. ${JSON.stringify(first)}\n2. ${JSON.stringify(second)}`,
    );
  },
};
