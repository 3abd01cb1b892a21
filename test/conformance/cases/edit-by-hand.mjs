import { textOf } from '../lib/message.mjs';

const ids = messages => messages.map(m => m.id);
const prompts = messages => messages.filter(m => m.role === 'user').map(textOf);

// evidence: promise-rewind
export default {
  order: 27,
  about: 'edits that an app makes by setMessages: with regenerate() one is an edit, with sendMessage() a new message that removes nothing',
  async run(t) {
    const chat = await t.open();
    for (const word of ['hello', 'usage']) {
      chat.send(word);
      await chat.settled();
    }
    t.must('two turns end without an error', chat.status === 'ready' && chat.messages.length === 4, chat.error?.message);
    const before = ids(chat.messages);
    chat.set([]);
    chat.send('plan');
    await chat.settled();
    t.well(chat, 'a new message after a cut screen is answered');
    t.equal(
      'history holds all three',
      (await t.history()).map(m => m.role),
      ['user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
    );
    t.equal('what the screen has dropped is still in history', ids(await t.history()).slice(0, 4), before);
    t.equal('and the new turn after it', ids(await t.history()).slice(4), ids(chat.messages));

    const page = await t.reload();
    const [first, , second] = page.messages;
    page.set([first, page.messages[1], { ...second, parts: [{ type: 'text', text: 'data' }] }]);
    page.regenerate();
    await page.settled();
    t.well(page, 'a prompt with a known id and another text is answered');
    t.equal('history shows what the screen shows', ids(await t.history()), ids(page.messages));
    t.equal('and the new text', prompts(await t.history()), ['hello', 'data']);
    page.send('remember');
    await page.settled();
    t.equal('the agent knows the new text only', textOf(page.last), 'Before this you said:\n\n- hello\n- data');
  },
};
