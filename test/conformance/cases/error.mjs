import { textOf } from '../lib/message.mjs';

export default {
  order: 20,
  about: 'a turn that fails: the sentence is shown, history says so, the next turn works',
  async run(t) {
    const chat = await t.open();
    chat.send('error');
    await chat.settled();
    t.equal('the client shows an error', chat.status, 'error');
    t.check('the error says why', chat.error?.message?.length > 0 && !/^AI_|Type validation/.test(chat.error.message), chat.error?.message);
    const last = (await t.history()).at(-1);
    t.equal('history says that it failed', last.metadata?.outcome, 'failed');
    t.equal('history ends in a data-error part', last.parts.at(-1)?.type, 'data-error');
    t.check(
      'the part holds the same sentence',
      JSON.stringify(last.parts.at(-1)?.data ?? null).includes(JSON.stringify(chat.error?.message ?? '').slice(1, -1)),
      JSON.stringify(last.parts.at(-1)),
    );
    chat.send('hello');
    await chat.settled();
    t.well(chat, 'the next turn works');
    t.check('the next answer holds text', textOf(chat.last).length > 0);
  },
};
