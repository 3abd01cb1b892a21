import { anonymous, textOf } from '../lib/message.mjs';

// An agent that cannot forget says so in a notice of its own.
const answerOf = message => anonymous(message).parts.map(p => p.type).filter(type => type !== 'data-notice');

export default {
  order: 25,
  about: 'regenerate() after the last answer, and of an earlier one: history is cut as the screen is',
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
    t.equal('the screen holds two turns', chat.messages.map(m => m.role), ['user', 'assistant', 'user', 'assistant']);
    t.check('the new answer has a new id', chat.last.id !== second, chat.last.id);
    t.equal('the new answer answers the same prompt', answerOf(chat.last), answerOf(old));
    t.equal('history shows what the screen shows', (await t.history()).map(m => m.id), chat.messages.map(m => m.id));
    chat.regenerate({ messageId: first });
    await chat.settled();
    t.well(chat, 'the earlier answer is written anew');
    t.equal('what came after it is gone from the screen', chat.messages.map(m => m.role), ['user', 'assistant']);
    t.check('its new answer holds text', textOf(chat.last).length > 0 && chat.last.id !== first);
    t.equal('what came after it is gone from history', (await t.history()).map(m => m.id), chat.messages.map(m => m.id));
  },
};
