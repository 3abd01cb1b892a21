import { requestOf, textOf, toolsOf } from '../lib/message.mjs';

export default {
  order: 18,
  about: 'an approval answered by the tool part: the client POSTs by itself, the same message goes on',
  skip: ({ client }) => (client.major === 5 ? 'major 5 has no approvals in its protocol' : null),
  async run(t) {
    for (const approved of [true, false]) {
      const id = `${t.id}-${approved}`, said = approved ? 'allowed' : 'denied';
      const chat = await t.open({ id, sendAutomaticallyWhen: t.client.ai.lastAssistantMessageIsCompleteWithApprovalResponses });
      chat.send('approve');
      await chat.settled();
      const request = requestOf(chat.last);
      t.must('the page shows the request', typeof request === 'string', `${chat.error?.message} ${JSON.stringify(chat.last.parts)}`);
      const message = chat.last.id;
      chat.approve({ id: request, approved, ...(approved ? {} : { reason: 'not today' }) });
      await chat.settled();
      t.well(chat, `${said}: the rest ends without an error`);
      t.equal(`${said}: the answer makes one POST`, t.requests(id).filter(r => r.method === 'POST').length, 2);
      t.equal(`${said}: the same message goes on`, [chat.messages.length, chat.last.id], [2, message]);
      const tool = toolsOf(chat.last).at(-1);
      t.equal(`${said}: the call ends so`, tool.state, approved ? 'output-available' : 'output-denied');
      t.check(`${said}: text follows`, textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(tool)) }).length > 0);
      t.equal(`${said}: history holds one answer`, (await t.history(id)).map(m => m.role), ['user', 'assistant']);
    }
  },
};
