import { press, decide, reply, sameInHistory, talk, untilQuestion, verdict, withoutApprovals } from '../lib/asking.mjs';
import { requestsOf, textOf } from '../lib/message.mjs';

// evidence: promise-waits
export default {
  order: 17,
  about: 'reload while the agent waits for two answers and talks meanwhile: what it said comes after the answers',
  skip: withoutApprovals,
  async run(t) {
    const before = await talk(t);
    const question = await untilQuestion(t, before, 'mixed');
    await t.until(async () => (await t.trace('permission_request')).length === 2);
    reply(before, question, 'red');
    await before.settled();
    await t.until(async () => (await t.trace('message')).some(r => r.payload.text.includes('You chose red')));
    await before.close();
    const page = await talk(t, { messages: await t.history() });
    const [one, two] = requestsOf(page.last);
    t.must('both requests are shown', one && two, JSON.stringify(page.last.parts));
    press(page, one, true);
    decide(t, page, two, true);
    await t.calm(page, 3, 'both answers');
    t.equal('the screen says so', [verdict(page.last, one), verdict(page.last, two)], ['allowed', 'allowed']);
    t.check('what was said meanwhile is there once', textOf(page.last).split('You chose red.').length === 2, textOf(page.last));
    await sameInHistory(t, page);
  },
};
