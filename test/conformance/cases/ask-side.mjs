import { questionOf, textOf, toolsOf, waitsFor } from '../lib/message.mjs';

export default {
  order: 17,
  about: 'a question answered by the side endpoint; the rest comes on the held stream or by resumeStream()',
  async run(t) {
    const chat = await t.open();
    chat.send('ask');
    await chat.until('a person is asked', c => waitsFor(c, questionOf));
    t.must('the question arrives without an error', !chat.error, chat.error?.message);
    const question = questionOf(chat.last);
    t.must('the page shows the question', question, JSON.stringify(chat.last.parts));
    if (t.profile === 5) t.check('a line of text says what is asked', textOf(chat.last).length > 0); // its apps may have no buttons
    const path = `/api/sessions/${encodeURIComponent(t.id)}/questions/${encodeURIComponent(question.input?.question_id ?? question.toolCallId)}`;
    const answer = await t.site.post(path, { value: 'blue' });
    t.must('the answer is taken', answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.text}`);
    await chat.settled();
    if (questionOf(chat.last)) {
      // the response had ended: paused
      chat.resume();
      await t.resumed(chat);
    }
    t.well(chat, 'the rest ends without an error');
    const page = await t.reload();
    const asked = toolsOf(page.last).find(p => p.type === 'tool-AskUser');
    t.check(
      'after a reload the question has its answer',
      asked?.state === 'output-available' && JSON.stringify(asked.output).includes('blue'),
      JSON.stringify(asked),
    );
    t.check('text follows the question', textOf({ parts: page.last.parts.slice(page.last.parts.indexOf(asked)) }).length > 0);
    t.equal(
      'the same tab shows it once',
      chat.last.parts.map(p => p.type),
      page.last.parts.map(p => p.type),
    );
  },
};
