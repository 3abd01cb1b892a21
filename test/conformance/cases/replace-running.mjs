import { anonymous, textOf } from '../lib/message.mjs';

const QUIET = 'Now I am quiet for a while.';

// evidence: promise-rewind
export default {
  order: 3,
  about: 'regenerate and edit while the answer streams: the old answer is gone for good, the new one is whole',
  async run(t) {
    const think = t.undisturbed('think');
    const chat = await t.open();
    // Nothing may be on its way just then, not even the end of the text: a chunk that arrives after it brings the old answer back on screen, in every release.
    const said = m => textOf(m) === QUIET && m.parts.every(p => p.type !== 'text' || p.state === 'done');
    const streams = old =>
      chat.until('an answer streams and pauses', c => c.last?.role === 'assistant' && c.last.id !== old && said(c.last));
    chat.send('quiet');
    await streams();
    const first = chat.last.id;
    chat.regenerate();
    await streams(first);
    t.equal(
      'regenerate: one prompt, one answer on screen',
      chat.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    const second = chat.last.id;
    chat.send('think', { messageId: chat.messages[0].id });
    await chat.settled();
    t.well(chat);
    t.equal(
      'edit: one prompt, one answer on screen',
      chat.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.check('edit: the answer has a new id', chat.last.id !== second, chat.last.id);
    t.equal('edit: the answer is whole', anonymous(chat.last), anonymous(await think));
    t.equal(
      'history shows what the screen shows',
      (await t.history()).map(m => m.id),
      chat.messages.map(m => m.id),
    );
    chat.send('remember');
    await chat.settled();
    t.equal('the agent knows the last text only', textOf(chat.last), 'Before this you said:\n\n- think');
  },
};
