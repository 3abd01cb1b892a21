import { textOf, toolsOf } from '../lib/message.mjs';

// The id a button of the app would use: the approval's, or in profile 5 what the AskPermission call carries.
const requestOf = m => {
  const asked = toolsOf(m).find(p => p.state === 'approval-requested');
  if (asked) return asked.approval.id;
  const call = toolsOf(m).find(p => p.type === 'tool-AskPermission' || p.toolName === 'AskPermission');
  return call && (call.input?.request_id ?? call.toolCallId);
};

export default {
  order: 16,
  about: 'an approval answered by the side endpoint, then seen by resumeStream()',
  async run(t) {
    const chat = await t.open();
    chat.send('approve');
    await chat.settled();
    t.must('the response ends without an error', chat.status === 'ready' && !chat.error, chat.error?.message);
    const request = requestOf(chat.last);
    t.must('the page shows the request', typeof request === 'string', JSON.stringify(chat.last.parts));
    t.check('a line of text says what is asked', textOf(chat.last).length > 0);
    const path = `/api/sessions/${encodeURIComponent(t.id)}/permissions/${encodeURIComponent(request)}`;
    const answer = await t.site.post(path, { approved: true });
    t.must('the answer is taken', answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.text}`);
    const again = await t.site.post(path, { approved: false });
    t.check('a second answer is refused', again.status === 409 || again.status === 404, `${again.status} ${again.text}`);
    chat.resume();
    await chat.until('the resume is answered', () => t.requests().some(r => r.method === 'GET' && r.status));
    await chat.settled();
    t.well(chat, 'the resumed turn ends without an error');
    const page = await t.reload();
    const tools = toolsOf(page.last);
    t.check('after a reload the tool has its output', tools.some(p => p.state === 'output-available'), JSON.stringify(tools));
    t.equal('one prompt, one answer in history', page.messages.map(m => m.role), ['user', 'assistant']);
    t.check('text follows the tool', textOf({ parts: page.last.parts.slice(page.last.parts.lastIndexOf(tools.at(-1))) }).length > 0);
    t.equal('the same tab shows it once', chat.last.parts.map(p => p.type), page.last.parts.map(p => p.type));
  },
};
