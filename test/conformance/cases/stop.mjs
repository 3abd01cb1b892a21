import { textOf } from '../lib/message.mjs';

// evidence: promise-disconnect
export default {
  order: 2,
  about: 'stop(), then the explicit stop: history says canceled, and the next turn works',
  async run(t) {
    const chat = await t.open();
    chat.send('slow');
    await chat.until('some text is shown', c => textOf(c.last).length > 20 && c.last.role === 'assistant');
    await chat.stop();
    await chat.settled();
    t.well(chat, 'the client is ready after stop()');
    const stopped = await t.stop();
    t.equal('the stop answers 200', stopped.status, 200);
    t.check('it names the turn it stopped', stopped.json?.stopped === true && typeof stopped.json?.turn === 'string', stopped.text);
    const again = await t.stop();
    t.equal('a second stop answers 200 too', again.status, 200);
    const last = (await t.history()).at(-1);
    t.equal('history says canceled', last.metadata?.outcome, 'canceled');
    t.check(
      'history goes on where the screen ended',
      textOf(last).startsWith(textOf(chat.last)),
      `${textOf(last).length} of ${textOf(chat.last).length} characters`,
    );
    chat.send('hello');
    await chat.settled();
    t.well(chat, 'the next turn works');
    t.check('the next answer holds text', textOf(chat.last).length > 0 && chat.last.role === 'assistant');
  },
};
