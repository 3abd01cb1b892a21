import { textOf, toolsOf } from '../../lib/message.mjs';

export default {
  about: 'two tool calls in one answer, each with its own input and output',
  async run(t) {
    const file = `${t.work}/hello.txt`;
    const chat = await t.open();
    chat.send(`[[script:both ${file}]]`);
    await chat.settled();
    t.well(chat);
    const tools = toolsOf(chat.last);
    t.equal(
      'there are two calls, both with an output',
      tools.map(p => [p.toolName, p.state]),
      [
        ['Read', 'output-available'],
        ['Bash', 'output-available'],
      ],
    );
    t.equal('each has its input', [tools[0]?.input?.file_path, tools[1]?.input?.command], [file, `ls ${file}`]);
    t.check(
      'each has its own output',
      JSON.stringify(tools[0]?.output ?? null).includes('hello from a file') && JSON.stringify(tools[1]?.output ?? null).includes(file),
      JSON.stringify(tools.map(p => p.output)),
    );
    t.check('each has an id of its own', tools[0]?.toolCallId !== tools[1]?.toolCallId, tools[0]?.toolCallId);
    const steps = chat.last.parts.map(p => p.type).filter(k => k === 'step-start' || k === 'dynamic-tool');
    t.equal('both stand in one step', steps, ['step-start', 'dynamic-tool', 'dynamic-tool', 'step-start']);
    t.check(
      'text follows',
      textOf({ parts: chat.last.parts.slice(chat.last.parts.lastIndexOf(tools.at(-1))) }).startsWith('Done. The tool said: '),
      JSON.stringify(chat.last.parts.at(-1)),
    );
  },
};
