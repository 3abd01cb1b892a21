import { decide, press, reply, sameInHistory, talk, untilAsked, untilQuestion, verdict, withoutApprovals } from '../lib/asking.mjs';
import { questionsOf, requestsOf, textOf } from '../lib/message.mjs';

// evidence: promise-stock-answer
export default {
  order: 19,
  about: 'a question and two requests at the same time: one kind after the other, and one POST for all of a kind',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const question = await untilQuestion(t, chat, 'mixed');
    t.equal('nothing else is asked yet', [questionsOf(chat.last).length, requestsOf(chat.last).length], [1, 0]);
    await t.until(async () => (await t.trace('permission_request')).length === 2);
    reply(chat, question, 'red');
    await untilAsked(t, chat, null, 'then the requests are shown');
    await t.calm(chat, 2, 'the question');
    const [one, two, ...more] = requestsOf(chat.last);
    t.must('both at once', one && two && !more.length, JSON.stringify(chat.last.parts));
    press(chat, one, true);
    await t.calm(chat, 2, 'the first answer alone');
    decide(t, chat, two, false);
    await t.calm(chat, 3, 'both answers');
    t.equal('the screen says so', [verdict(chat.last, one), verdict(chat.last, two)], ['allowed', 'denied']);
    t.check(
      'the agent hears all',
      /You chose red\.[\s\S]*run it: echo one[\s\S]*it was denied\.$/.test(textOf(chat.last)),
      textOf(chat.last),
    );
    await sameInHistory(t, chat);
  },
};
