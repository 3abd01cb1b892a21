import { press, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

// evidence: promise-one-answer
export default {
  order: 16,
  about: 'a request that the user talks past is denied and its turn ends; the button that is left does nothing, or says that',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const request = await untilAsked(t, chat, 'approve');
    const asking = chat.last.id;
    chat.send('hello instead');
    await t.calm(chat, 2, 'talked past');
    t.check('the new message has its answer', textOf(chat.last).startsWith('Hello!'), textOf(chat.last));
    t.equal(
      'the request is denied, with who and why',
      (await t.trace('permission_response')).map(r => [r.payload.chosen_option, !!r.payload.by, r.payload.interrupt]),
      [['deny', true, true]],
    );
    t.equal(
      'history says canceled',
      (await t.history()).map(m => m.metadata?.outcome ?? ''),
      ['', 'canceled', '', ''],
    );
    press(chat, request, true);
    await chat.settled();
    await new Promise(r => setTimeout(r, 150));
    await chat.settled();
    t.check('the old button makes no loop', t.posts() <= 3, t.posts());
    t.equal(
      'and no new message',
      chat.messages.map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    t.check('the chat is not broken', chat.status === 'ready' || chat.error?.message.length > 0, chat.status);
    t.equal('nothing was allowed', (await t.trace('permission_response')).length, 1);
    const posts = t.posts();
    chat.send('think');
    await t.calm(chat, posts + 1, 'the next prompt');
    t.check('it has its answer', textOf(chat.last).includes('the answer is yes'), textOf(chat.last));
    const page = await t.reload();
    t.check(
      'after a reload the request is not allowed',
      !['allowed', 'approval-requested', 'approval-responded'].includes(
        verdict(
          page.messages.find(m => m.id === asking),
          request,
        ),
      ),
      JSON.stringify(page.messages[1]),
    );
  },
};
