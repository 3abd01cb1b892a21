import { textOf, toolsOf } from '../../lib/message.mjs';
import { both, read } from '../../lib/script.mjs';

export default {
  about: 'one call, then two in one answer: each with an input and an output, and text behind them',
  async run(t) {
    const file = `${t.work}/hello.txt`;
    const chat = await t.open();
    for (const [prompt, calls] of [
      [read(file), 1],
      [both(file), 2],
    ]) {
      chat.send(prompt);
      await chat.settled();
      t.well(chat, `${calls}: the turn ends without an error`);
      const tools = toolsOf(chat.last);
      t.equal(
        `${calls}: all have an output`,
        tools.map(p => p.state),
        Array.from({ length: calls }, () => 'output-available'),
      );
      t.equal(`${calls}: each has an id of its own`, new Set(tools.map(p => p.toolCallId)).size, calls);
      t.check(
        `${calls}: each has an input that names the file`,
        tools.every(p => JSON.stringify(p.input ?? null).includes('hello.txt')),
        JSON.stringify(tools.map(p => p.input)),
      );
      // Some agents do not read a file again that they know.
      if (calls === 1)
        t.check(
          '1: the file is shown',
          JSON.stringify(tools.map(p => p.output ?? null)).includes('hello from a file'),
          JSON.stringify(tools.map(p => p.output)),
        );
      t.check(
        `${calls}: text follows`,
        textOf({ parts: chat.last.parts.slice(chat.last.parts.lastIndexOf(tools.at(-1))) }).startsWith('Done. The tool said: '),
        textOf(chat.last),
      );
    }
    t.equal('the client asked once for each turn', t.requests().length, 2);
  },
};
