import { textOf } from '../lib/message.mjs';

const HELLO = 'Hello! I am the demo agent, and I have no model. Say help to see what I can play.';

export default {
  order: 10,
  about: 'a text answer, its five official headers, and the next turn',
  async run(t) {
    const chat = await t.open();
    chat.send('hello');
    await chat.settled();
    t.well(chat);
    t.equal(
      'the screen holds the prompt and one answer',
      chat.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.equal('the answer is what the agent said', textOf(chat.last), HELLO);
    t.check(
      'every text part is done',
      chat.last.parts.every(p => p.type !== 'text' || p.state === 'done'),
      JSON.stringify(chat.last.parts),
    );
    const [post] = t.requests();
    t.equal(
      'the official headers are there',
      {
        type: post.headers.get('content-type')?.split(';')[0],
        cache: /no-cache|no-store/.test(post.headers.get('cache-control') ?? ''),
        protocol: post.headers.get('x-vercel-ai-ui-message-stream'),
        buffering: post.headers.get('x-accel-buffering'),
      },
      { type: 'text/event-stream', cache: true, protocol: 'v1', buffering: 'no' },
    );
    chat.send('hello again');
    await chat.settled();
    t.well(chat, 'the second turn ends without an error');
    t.equal('so is the second answer', textOf(chat.last), HELLO);
    t.equal(
      'the screen holds two prompts and two answers',
      chat.messages.map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    t.check('the answers have ids of their own', chat.messages[1].id !== chat.messages[3].id, chat.messages[1].id);
    t.equal(
      'the ids on screen are those of the history',
      chat.messages.map(m => m.id),
      (await t.history()).map(m => m.id),
    );
    t.equal('no request was sent by itself', t.requests().length, 2);
  },
};
