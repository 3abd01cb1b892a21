import { reply, sameInHistory, talk, untilQuestion } from '../../lib/asking.mjs';
import { questionsOf, textOf } from '../../lib/message.mjs';
import { call } from '../../lib/script.mjs';

const choice = (question, header, multiSelect, ...labels) => ({
  question,
  header,
  multiSelect,
  options: labels.map(label => ({ label, description: `as ${label}` })),
});
const COLOUR = choice('Which colour?', 'Colour', false, 'Red', 'Blue'),
  FISH = choice('Which fish?', 'Fish', true, 'Pike', 'Eel', 'Trout');

export default {
  order: 15,
  about: 'questions (AskUserQuestion) by the tool part: a choice, other words, several questions in one call, and one that is typed',
  async run(t) {
    const chat = await talk(t);
    let posts = 0;
    for (const [name, value, heard] of [
      ['a choice', 'Blue', /"Which colour\?"="Blue"/],
      ['other words', 'neither of them', /"Which colour\?"="neither of them"/],
    ]) {
      const question = await untilQuestion(
        t,
        chat,
        call('AskUserQuestion', { questions: [COLOUR] }),
        `${name}: the page shows the question`,
      );
      reply(chat, question, value);
      posts += 2;
      await t.calm(chat, posts, name);
      t.check(`${name}: the agent hears it`, heard.test(textOf(chat.last)), textOf(chat.last));
    }
    await untilQuestion(t, chat, call('AskUserQuestion', { questions: [COLOUR, FISH] }), 'several: the page shows the questions');
    const [one, two, ...more] = questionsOf(chat.last);
    t.must('several: all are shown at once', one && two && !more.length, JSON.stringify(chat.last.parts));
    reply(chat, one, 'Red');
    await t.calm(chat, posts + 1, 'several: the first answer alone');
    reply(chat, two, ['Pike', 'Eel']);
    posts += 2;
    await t.calm(chat, posts, 'several');
    t.check(
      'several: the agent hears all',
      /"Which colour\?"="Red"/.test(textOf(chat.last)) && /"Which fish\?"="Pike, ?Eel"/.test(textOf(chat.last)),
      textOf(chat.last),
    );
    await sameInHistory(t, chat);
    await untilQuestion(t, chat, call('AskUserQuestion', { questions: [COLOUR] }), 'typed: the page shows the question');
    chat.send('green, please');
    await t.calm(chat, posts + 2, 'typed');
    t.check('typed: the agent hears it', /"Which colour\?"="green, please"/.test(textOf(chat.last)), textOf(chat.last));
  },
};
