import { anonymous, textOf } from '../lib/message.mjs';

// evidence: promise-rewind
export default {
  order: 25,
  about: 'regenerate() after the last answer, and of an earlier one: history is cut as the screen is, and the agent forgets',
  async run(t) {
    const chat = await t.open();
    chat.send('hello');
    await chat.settled();
    chat.send('think');
    await chat.settled();
    t.must('two turns end without an error', chat.status === 'ready' && chat.messages.length === 4, chat.error?.message);
    const [, first, , second] = chat.messages.map(m => m.id);
    const old = anonymous(chat.last);
    chat.regenerate();
    await chat.settled();
    t.well(chat, 'the last answer is written anew');
    t.equal(
      'the screen holds two turns',
      chat.messages.map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    t.check('the new answer has a new id', chat.last.id !== second, chat.last.id);
    t.equal('the new answer answers the same prompt', anonymous(chat.last), old);
    t.equal(
      'history shows what the screen shows',
      (await t.history()).map(m => m.id),
      chat.messages.map(m => m.id),
    );
    chat.send('remember');
    await chat.settled();
    t.equal('the agent has heard each prompt once', textOf(chat.last), 'Before this you said:\n\n- hello\n- think');
    chat.regenerate({ messageId: first });
    await chat.settled();
    t.well(chat, 'the earlier answer is written anew');
    t.equal(
      'what came after it is gone from the screen',
      chat.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.check('its new answer holds text', textOf(chat.last).length > 0 && chat.last.id !== first);
    t.equal(
      'what came after it is gone from history',
      (await t.history()).map(m => m.id),
      chat.messages.map(m => m.id),
    );
    chat.send('remember');
    await chat.settled();
    t.equal('what came after it is gone from the agent', textOf(chat.last), 'Before this you said:\n\n- hello');
  },
};
