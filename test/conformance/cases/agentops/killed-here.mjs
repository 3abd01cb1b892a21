import { begin, farRests, theirs } from '../../lib/agentops.mjs';
import { textOf } from '../../lib/message.mjs';

export default {
  order: 1,
  about: 'the gateway is killed in mid-turn: the turn goes on upstream, and is complete here after the restart',
  skip: ({ way }) => (way === 'hook' ? 'two gateways of its own for each trial: once a client is enough' : null),
  async run(t) {
    const server = await t.alone();
    await begin(t);
    const chat = await t.open();
    chat.send('slow');
    await chat.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 20);
    const seen = textOf(chat.last),
      message = chat.last.id;
    await server.restart('SIGKILL');
    await farRests(t);
    await t.until(async () => (await t.site.get(`/api/sessions/${t.id}`)).json?.state === 'idle');
    const page = await t.reload();
    t.equal('the message is the same', page.last.id, message);
    t.check('what was seen is its beginning', textOf(page.last).startsWith(seen), `${textOf(page.last)} after ${seen}`);
    t.equal('it is as whole as there', textOf(page.last), textOf((await theirs(t)).at(-1)));
    page.send('hello');
    await page.settled();
    t.well(page, 'the next prompt works');
  },
};
