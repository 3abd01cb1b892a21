import { begin } from '../../lib/agentops.mjs';
import { textOf, toolsOf } from '../../lib/message.mjs';

const shown = tools => tools.map(p => [p.state, p.input, p.output ?? p.errorText]);

export default {
  about: 'tool calls, through two gateways: alone, failing, two at once; each with its input and its result, text around them',
  async run(t) {
    await begin(t);
    const chat = await t.open({ sendAutomaticallyWhen: t.client.ai.lastAssistantMessageIsCompleteWithToolCalls });
    for (const [prompt, states] of [
      ['tool', ['output-available']],
      ['fail', ['output-error']],
      ['parallel', ['output-available', 'output-available']],
    ]) {
      const before = t.posts();
      chat.send(prompt);
      await chat.settled();
      t.well(chat, `${prompt}: ends without an error`);
      const tools = toolsOf(chat.last);
      t.equal(
        `${prompt}: the calls`,
        tools.map(p => p.state),
        states,
      );
      const there = toolsOf((await t.site.far.history(t.id, t.profile)).at(-1));
      t.equal(`${prompt}: input and result are those of the other side`, shown(tools), shown(there));
      t.check(`${prompt}: text follows`, textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(tools.at(-1))) }).length > 0);
      t.equal(`${prompt}: one POST`, t.posts() - before, 1);
      t.equal(`${prompt}: ids are not shared`, new Set(tools.map(p => p.toolCallId)).size, tools.length);
    }
  },
};
