import { reasoningOf, textOf } from '../../lib/message.mjs';
import { THINK_TEXT, THOUGHT } from '../../lib/script.mjs';

export default {
  about: 'reasoning, then text',
  async run(t) {
    const chat = await t.open();
    chat.send('[[script:think]]');
    await chat.settled();
    t.well(chat);
    t.equal('the reasoning is what the model thought', reasoningOf(chat.last), THOUGHT);
    t.equal('the text is what the model said', textOf(chat.last), THINK_TEXT);
    t.equal(
      'the reasoning stands before the text',
      chat.last.parts.map(p => p.type).filter(k => k === 'reasoning' || k === 'text'),
      ['reasoning', 'text'],
    );
    t.check(
      'nothing is left streaming',
      chat.last.parts.every(p => p.state !== 'streaming'),
      JSON.stringify(chat.last.parts),
    );
  },
};
