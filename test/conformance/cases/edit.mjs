import { reasoningOf, textOf } from '../lib/message.mjs';

// evidence: promise-rewind
export default {
  order: 26,
  about: 'an edited prompt, sendMessage({text, messageId}), replaces what followed, also for the agent',
  async run(t) {
    const chat = await t.open();
    chat.send('hello');
    await chat.settled();
    chat.send('tool');
    await chat.settled();
    t.must('two turns end without an error', chat.status === 'ready' && chat.messages.length === 4, chat.error?.message);
    const first = chat.messages[0].id;
    chat.send('think instead', { messageId: first });
    await chat.settled();
    t.well(chat);
    t.equal(
      'one prompt, one answer on screen',
      chat.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.equal('the prompt keeps its id', chat.messages[0].id, first);
    t.check('the answer is one to the new text', reasoningOf(chat.last).length > 0, JSON.stringify(chat.last.parts));
    const history = await t.history();
    t.equal(
      'history shows what the screen shows',
      history.map(m => m.id),
      chat.messages.map(m => m.id),
    );
    t.equal('history holds the new text', textOf(history[0]), 'think instead');
    chat.send('remember');
    await chat.settled();
    t.equal('the agent knows the new text only', textOf(chat.last), 'Before this you said:\n\n- think instead');
  },
};
