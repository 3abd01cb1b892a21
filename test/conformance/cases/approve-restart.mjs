import { decide, reply, talk, untilAsked, untilQuestion, verdict, withoutApprovals } from '../lib/asking.mjs';
import { questionsOf, textOf, toolsOf } from '../lib/message.mjs';

// evidence: promise-waits
export default {
  order: 0,
  within: 180,
  about: 'the gateway is killed, or ended, while a request is open: the late answer gets the end of the turn under the same message',
  skip: at =>
    withoutApprovals(at) ??
    (at.way === 'hook' || at.profile === 'none' ? 'a gateway of its own for each trial: once a client is enough' : null),
  async run(t) {
    const server = await t.alone();
    for (const signal of ['SIGKILL', 'SIGTERM']) {
      const id = `${t.id}-${signal}`;
      const chat = await talk(t, { id });
      const request = await untilAsked(t, chat, 'approve');
      const message = chat.last.id;
      const other = `${id}-ask`,
        page = await talk(t, { id: other });
      const question = await untilQuestion(t, page, 'several');
      await server.restart(signal);
      t.check(`${signal}: history shows the request settled`, verdict((await t.history(id)).at(-1), request) !== 'allowed');
      decide(t, chat, request, true);
      await chat.settled();
      await new Promise(r => setTimeout(r, 150));
      await chat.settled();
      t.equal(`${signal}: the answer makes one POST`, t.posts(id), 2);
      t.check(
        `${signal}: an explained end`,
        chat.status === 'ready' || chat.error?.message.length > 10,
        `${chat.status} ${chat.error?.message}`,
      );
      t.equal(`${signal}: under the same message`, [chat.messages.length, chat.last.id], [2, message]);
      t.check(
        `${signal}: the request is settled, and not allowed`,
        !['allowed', 'approval-responded', 'approval-requested'].includes(verdict(chat.last, request)),
        verdict(chat.last, request),
      );
      t.equal(
        `${signal}: nothing was allowed`,
        (await t.trace('permission_response', id)).map(r => r.payload.outcome),
        ['canceled'],
      );
      for (const q of questionsOf(page.last)) reply(page, q, 'blue');
      await page.settled();
      await new Promise(r => setTimeout(r, 150));
      await page.settled();
      t.equal(`${signal}: the answer to the questions makes one POST`, t.posts(other), 2);
      t.check(
        `${signal}: the questions are settled, and not answered`,
        toolsOf(page.last)
          .filter(p => p.type === 'tool-AskUser')
          .every(p => p.state === 'output-error'),
        JSON.stringify(toolsOf(page.last)),
      );
      t.equal(
        `${signal}: under the message that asks`,
        [page.messages.length, toolsOf(page.last).some(p => p.toolCallId === question.toolCallId)],
        [2, true],
      );
      chat.send('hello');
      await chat.settled();
      t.well(chat, `${signal}: the next prompt works`);
      t.check(`${signal}: it has its answer`, textOf(chat.last).startsWith('Hello!'), textOf(chat.last));
    }
  },
};
