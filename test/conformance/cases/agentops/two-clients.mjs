import { begin } from '../../lib/agentops.mjs';
import { plain, textOf } from '../../lib/message.mjs';

export default {
  about: 'two pages on one session see the same, and a turn that began on the other side is shown here',
  async run(t) {
    await begin(t);
    const first = await t.open();
    first.send('slow');
    await first.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    const second = await t.open({ messages: (await t.history()).filter(m => m.role === 'user'), resume: true });
    if (t.way === 'chat') second.resume();
    await t.resumed(second);
    await first.settled();
    t.well(first, 'the first page ends without an error');
    t.well(second, 'the second page ends without an error');
    t.equal('both show the same', plain(second.messages), plain(first.messages));
    const other = await t.site.far.post('/api/chat', {
      id: t.id,
      messages: [{ id: `there-${t.id}`, role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    });
    t.equal('the other side answers its own user', other.status, 200);
    // The message is there before its text is.
    const rests = async () => (await t.site.get(`/api/sessions/${t.id}`)).json?.state === 'idle';
    await t.until(async () => (await t.history()).length === 4 && rests());
    const last = (await t.history()).at(-1);
    t.check('history here has that turn too', textOf(last).startsWith('Hello!'), textOf(last));
  },
};
