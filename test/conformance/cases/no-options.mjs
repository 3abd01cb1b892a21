import { textOf } from '../lib/message.mjs';

export default {
  order: 12,
  about: "useChat() with no options on a page of the gateway's own origin: the default path and the cookie",
  skip: ({ profile }) => (profile === 'own' ? 'no options means no profile' : null),
  async run(t) {
    const chat = await t.openBare();
    chat.send('tool');
    await chat.settled();
    t.well(chat);
    t.check('the answer holds text', textOf(chat.last).length > 0);
    t.equal(
      'the request went to the default path',
      t.requests(chat.id).map(r => `${r.method} ${r.path}`),
      ['POST /api/chat'],
    );
  },
};
