import { begin } from '../../lib/agentops.mjs';
import { textOf } from '../../lib/message.mjs';

export default {
  order: 1,
  about: 'the other side is killed in mid-turn: a clear end here, and the next prompt works once it is back',
  skip: ({ way }) => (way === 'hook' ? 'two gateways of its own for each trial: once a client is enough' : null),
  async run(t) {
    const server = await t.alone();
    await begin(t);
    const chat = await t.open();
    chat.send('long');
    await chat.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    await server.far.restart('SIGKILL');
    await chat.settled(60000);
    t.check('an explained end', chat.status === 'error' && chat.error.message.length > 5, `${chat.status} ${chat.error?.message}`);
    t.equal('history says failed', (await t.history()).at(-1).metadata?.outcome, 'failed');
    const page = await t.reload();
    page.send('hello');
    await page.settled();
    t.well(page, 'the next prompt works');
    t.check('it has its answer', textOf(page.last).startsWith('Hello!'), textOf(page.last));
  },
};
