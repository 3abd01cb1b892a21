import { textOf, toolsOf } from '../lib/message.mjs';

export default {
  order: 12,
  about: 'a tool call: its input streams, its output arrives, text follows',
  async run(t) {
    const calls = [];
    const chat = await t.open({
      onToolCall: ({ toolCall }) => {
        calls.push(toolCall.toolCallId);
      },
      sendAutomaticallyWhen: t.client.ai.lastAssistantMessageIsCompleteWithToolCalls,
    });
    const states = new Set();
    chat.watch(c => {
      for (const p of toolsOf(c.messages.at(-1))) states.add(p.state);
    });
    chat.send('tool');
    await chat.settled();
    t.well(chat);
    const tools = toolsOf(chat.last);
    t.check('there is a tool call', tools.length > 0);
    t.equal(
      'every tool call has its output',
      tools.map(p => p.state),
      tools.map(() => 'output-available'),
    );
    t.check(
      'every tool call has an input',
      tools.every(p => p.input !== undefined),
      JSON.stringify(tools),
    );
    // The class tells every change; React may draw several at once.
    if (t.way === 'chat')
      t.check(
        'the input streams before it is whole',
        states.has('input-streaming') && states.has('input-available'),
        [...states].join(' '),
      );
    t.check('text follows the tool', textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(tools.at(-1))) }).length > 0);
    t.equal('onToolCall is left in peace', calls, []);
    t.equal('a tool the agent ran itself makes no second POST', t.requests().length, 1);
  },
};
