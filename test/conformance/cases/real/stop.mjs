import { textOf } from '../../lib/message.mjs';
import { SLOW_TEXT, say, slow } from '../../lib/script.mjs';

export default {
  order: 10,
  about: 'stop() and the explicit stop in mid-text: history says canceled, the agent goes on with the next prompt',
  async run(t) {
    const chat = await t.open();
    chat.send(slow(300));
    await chat.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 10);
    await chat.stop();
    await chat.settled();
    t.well(chat, 'the client is ready after stop()');
    const stopped = await t.stop();
    t.equal('the stop answers 200', stopped.status, 200);
    t.check('it names the turn it stopped', stopped.json?.stopped === true && typeof stopped.json?.turn === 'string', stopped.text);
    const last = (await t.history()).at(-1),
      kept = textOf(last);
    t.equal('history says canceled', last.metadata?.outcome, 'canceled');
    t.check('the model was stopped in mid-text', SLOW_TEXT.startsWith(kept) && kept.length < SLOW_TEXT.length, kept);
    chat.send(say('I am here.'));
    await chat.settled();
    t.well(chat, 'the next prompt works');
    t.equal('the next answer is shown', textOf(chat.last), 'I am here.');
  },
};
