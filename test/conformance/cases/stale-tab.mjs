import { textOf } from '../lib/message.mjs';

const ids = messages => messages.map(m => m.id);

// evidence: promise-rewind
export default {
  order: 28,
  about: 'a second page that is behind removes nothing: its regenerate() is refused with a sentence, its new message is appended',
  async run(t) {
    const first = await t.open();
    first.send('hello');
    await first.settled();
    const second = await t.reload();
    first.send('usage');
    await first.settled();
    t.must('two turns end without an error', first.status === 'ready' && first.messages.length === 4, first.error?.message);
    const before = await t.history();
    second.regenerate();
    await second.settled();
    t.equal('regenerate is refused', t.requests().at(-1).status, 409);
    t.equal('the page says why', second.error?.message, 'This conversation has gone on elsewhere: reload to see it, then try again.');
    t.equal('nothing is removed', await t.history(), before);

    const third = await t.open({ messages: before.slice(0, 2) });
    third.send('plan');
    await third.settled();
    t.well(third, 'a new message is answered');
    const after = await t.history();
    t.equal('nothing is removed by it', ids(after).slice(0, 4), ids(before));
    t.equal('it is appended', ids(after).slice(4), ids(third.messages).slice(2));
    const reloaded = await t.reload();
    reloaded.send('remember');
    await reloaded.settled();
    t.equal('the agent knows all', textOf(reloaded.last), 'Before this you said:\n\n- hello\n- usage\n- plan');
  },
};
