import { textOf, toolsOf } from '../../lib/message.mjs';
import { read } from '../../lib/script.mjs';

export default {
  about: 'a tool that fails shows why, and does not end the turn',
  async run(t) {
    const file = `${t.work}/not-there.txt`;
    const chat = await t.open();
    chat.send(read(file));
    await chat.settled();
    t.well(chat);
    const tools = toolsOf(chat.last);
    t.equal(
      'the call is shown as failed',
      tools.map(p => [p.toolName, p.state, p.input]),
      [['Read', 'output-error', { file_path: file }]],
    );
    t.check('it says why', /does not exist/.test(tools[0]?.errorText ?? ''), tools[0]?.errorText);
    t.check(
      'text follows, and quotes the failure',
      /^Done\. The tool said: .*does not exist/.test(textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(tools[0])) })),
      textOf(chat.last),
    );
  },
};
