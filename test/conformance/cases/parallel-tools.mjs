import { toolsOf } from '../lib/message.mjs';

export default {
  order: 14,
  about: 'two tool calls at once, each with its own output',
  async run(t) {
    const chat = await t.open();
    let together = 0;
    chat.watch(c => {
      together = Math.max(together, toolsOf(c.messages.at(-1)).filter(p => p.state === 'input-available').length);
    });
    chat.send('parallel');
    await chat.settled();
    t.well(chat);
    const tools = toolsOf(chat.last);
    t.check('there are two tool calls or more', tools.length >= 2, tools.length);
    if (t.way === 'chat') t.check('two run at once', together >= 2, together);
    t.equal(
      'each has its output',
      tools.map(p => p.state),
      tools.map(() => 'output-available'),
    );
    t.equal('each has an id of its own', new Set(tools.map(p => p.toolCallId)).size, tools.length);
  },
};
