import { questionOf, textOf, toolsOf } from '../lib/message.mjs';

// evidence: promise-stock-answer
export default {
  order: 19,
  about: 'a question answered as a client tool: the client POSTs by itself, the same message goes on',
  async run(t) {
    const chat = await t.open({ sendAutomaticallyWhen: t.client.ai.lastAssistantMessageIsCompleteWithToolCalls });
    chat.send('ask');
    await chat.settled();
    const question = questionOf(chat.last);
    t.must('the page shows the question', question, `${chat.error?.message} ${JSON.stringify(chat.last.parts)}`);
    const message = chat.last.id;
    chat.answer({ tool: 'AskUser', toolCallId: question.toolCallId, output: 'blue' });
    await chat.settled();
    t.well(chat, 'the rest ends without an error');
    t.equal('the answer makes one POST', t.requests().filter(r => r.method === 'POST').length, 2);
    t.equal('the same message goes on', [chat.messages.length, chat.last.id], [2, message]);
    const asked = toolsOf(chat.last).find(p => p.type === 'tool-AskUser');
    t.equal('the answer stands in the message', [asked?.state, asked?.output], ['output-available', 'blue']);
    t.check('text follows', textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(asked)) }).length > 0);
    t.equal(
      'history holds one answer',
      (await t.history()).map(m => m.role),
      ['user', 'assistant'],
    );
  },
};
