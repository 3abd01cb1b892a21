import { restOf } from '../../lib/asking.mjs';
import { questionOf, textOf, toolsOf, waitsFor } from '../../lib/message.mjs';
import { call } from '../../lib/script.mjs';

const QUESTIONS = {
  questions: [
    {
      question: 'Which colour?',
      header: 'Colour',
      multiSelect: false,
      options: [
        { label: 'Red', description: 'as a rose' },
        { label: 'Blue', description: 'as the sea' },
      ],
    },
  ],
};

export default {
  order: 13,
  about: 'the agent asks a question (AskUserQuestion), the side endpoint answers, and the agent hears the answer',
  async run(t) {
    let chat = await t.open();
    chat.send(call('AskUserQuestion', QUESTIONS));
    await chat.until('a person is asked', c => waitsFor(c, questionOf));
    t.must('the question arrives without an error', !chat.error, chat.error?.message);
    const question = questionOf(chat.last);
    t.must('the page shows the question', question, JSON.stringify(chat.last.parts));
    const shown = JSON.stringify(question.input);
    t.check(
      'with its text and its choices',
      ['Which colour?', 'Red', 'Blue', 'as the sea'].every(s => shown.includes(s)),
      shown,
    );
    t.check(
      'a line of text says what is asked to clients that may have no buttons',
      textOf(chat.last).includes('Which colour?') === (t.profile === 5),
      textOf(chat.last),
    );
    const path = `/api/sessions/${encodeURIComponent(t.id)}/questions/${encodeURIComponent(question.input?.question_id ?? question.toolCallId)}`;
    const answer = await t.site.post(path, { value: 'Blue' });
    t.must('the answer is taken', answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.text}`);
    chat = await restOf(t, chat);
    t.well(chat, 'the rest ends without an error');
    const asked = toolsOf(chat.last).find(p => p.type === 'tool-AskUser');
    t.check(
      'the question has its answer',
      asked?.state === 'output-available' && JSON.stringify(asked.output).includes('Blue'),
      JSON.stringify(asked),
    );
    t.check(
      'the agent heard it',
      /"Which colour\?"="Blue"/.test(textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(asked)) })),
      textOf(chat.last),
    );
    const page = await t.reload();
    t.equal(
      'history shows the same',
      page.last.parts.map(p => [p.type, p.state]),
      chat.last.parts.map(p => [p.type, p.state]),
    );
  },
};
