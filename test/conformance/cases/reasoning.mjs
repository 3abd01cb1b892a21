import { reasoningOf, textOf } from '../lib/message.mjs';

export default {
  order: 11,
  about: 'reasoning before text',
  async run(t) {
    const chat = await t.open();
    chat.send('think');
    await chat.settled();
    t.well(chat);
    t.check('the reasoning is shown', reasoningOf(chat.last).length > 0);
    t.check('the text is shown', textOf(chat.last).length > 0);
    const kinds = chat.last.parts.map(p => p.type).filter(k => k === 'reasoning' || k === 'text');
    t.check('the reasoning stands before the text', kinds.indexOf('reasoning') < kinds.lastIndexOf('text'), kinds.join(' '));
    t.check(
      'nothing is left streaming',
      chat.last.parts.every(p => p.state !== 'streaming'),
      JSON.stringify(chat.last.parts),
    );
  },
};
