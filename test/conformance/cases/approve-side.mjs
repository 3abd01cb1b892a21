import { requestOf, textOf, toolsOf, waitsFor } from '../lib/message.mjs';

export default {
  order: 16,
  about: 'an approval answered by the side endpoint; the rest comes on the held stream or by resumeStream()',
  async run(t) {
    const chat = await t.open();
    chat.send('approve');
    await chat.until('a person is asked', c => waitsFor(c, requestOf));
    t.must('the request arrives without an error', !chat.error, chat.error?.message);
    const request = requestOf(chat.last);
    t.must('the page shows the request', typeof request === 'string', JSON.stringify(chat.last.parts));
    if (t.profile === 5) t.check('a line of text says what is asked', textOf(chat.last).length > 0); // its apps may have no buttons
    const path = `/api/sessions/${encodeURIComponent(t.id)}/permissions/${encodeURIComponent(request)}`;
    const answer = await t.site.post(path, { approved: true });
    t.must('the answer is taken', answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.text}`);
    const again = await t.site.post(path, { approved: false });
    t.check('a second answer is refused', again.status === 409 || again.status === 404, `${again.status} ${again.text}`);
    await chat.settled();
    if (requestOf(chat.last)) {
      // the response had ended: paused
      chat.resume();
      await t.resumed(chat);
    }
    t.well(chat, 'the rest ends without an error');
    const page = await t.reload();
    const tools = toolsOf(page.last);
    t.check(
      'after a reload the tool has its output',
      tools.some(p => p.state === 'output-available'),
      JSON.stringify(tools),
    );
    t.equal(
      'one prompt, one answer in history',
      page.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.check('text follows the tool', textOf({ parts: page.last.parts.slice(page.last.parts.lastIndexOf(tools.at(-1))) }).length > 0);
    t.equal(
      'the same tab shows it once',
      chat.last.parts.map(p => p.type),
      page.last.parts.map(p => p.type),
    );
  },
};
