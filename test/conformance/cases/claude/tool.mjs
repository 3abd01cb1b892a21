import { reasoningOf, toolsOf } from '../../lib/message.mjs';
import { read } from '../../lib/script.mjs';

export default {
  about: 'a tool with its input and output, between text and text',
  async run(t) {
    const calls = [],
      states = new Set(),
      file = `${t.work}/hello.txt`;
    const chat = await t.open({
      onToolCall: ({ toolCall }) => {
        calls.push(toolCall.toolCallId);
      },
      sendAutomaticallyWhen: t.client.ai.lastAssistantMessageIsCompleteWithToolCalls,
    });
    chat.watch(c => {
      for (const p of toolsOf(c.messages.at(-1))) states.add(p.state);
    });
    chat.send(read(file));
    await chat.settled();
    t.well(chat);
    const tools = toolsOf(chat.last);
    t.equal(
      'there is one call, of Read',
      tools.map(p => [p.type, p.toolName, p.state]),
      [['dynamic-tool', 'Read', 'output-available']],
    );
    t.equal('its input is shown', tools[0]?.input, { file_path: file });
    t.check(
      'its output is shown',
      JSON.stringify(tools[0]?.output ?? null).includes('hello from a file'),
      JSON.stringify(tools[0]?.output),
    );
    // The class tells every change; React may draw several at once.
    if (t.way === 'chat')
      t.check('the call is shown before its output', states.has('input-streaming') && states.has('input-available'), [...states].join(' '));
    t.equal('reasoning comes first', reasoningOf(chat.last), 'I should use a tool to read a file.');
    t.equal(
      'text stands before and after',
      chat.last.parts.filter(p => p.type === 'text' || p.type === 'dynamic-tool').map(p => p.text ?? p.toolName),
      ['I will read a file.', 'Read', 'Done. The tool said: 1 hello from a file 2'],
    );
    t.equal('onToolCall is left in peace', calls, []);
    t.equal('a tool the agent ran itself makes no second POST', t.requests().length, 1);
  },
};
