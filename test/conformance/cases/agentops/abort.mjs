import { begin, farRests, theirs } from '../../lib/agentops.mjs';
import { textOf } from '../../lib/message.mjs';

export default {
  about: 'a stop here stops the turn there, and the next prompt works',
  async run(t) {
    await begin(t);
    const chat = await t.open();
    chat.send('long');
    await chat.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    await chat.stop();
    await t.stop();
    await chat.settled();
    t.well(chat, 'the client is ready');
    await farRests(t);
    const last = (await theirs(t)).at(-1);
    t.equal('the other side says canceled', last.metadata?.outcome, 'canceled');
    t.check('it was not all said', textOf(last).length < 8000, textOf(last).length);
    t.equal('history here says canceled', (await t.history()).at(-1).metadata?.outcome, 'canceled');
    chat.send('hello');
    await chat.settled();
    t.well(chat, 'the next turn works');
    t.check('the next answer is its own', textOf(chat.last).startsWith('Hello!'), textOf(chat.last));
  },
};
