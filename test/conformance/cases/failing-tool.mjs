import { textOf, toolsOf } from '../lib/message.mjs';

// evidence: promise-known-chunks
export default {
  order: 13,
  about: 'a tool that fails does not end the turn',
  async run(t) {
    const chat = await t.open();
    chat.send('fail');
    await chat.settled();
    t.well(chat);
    const failed = toolsOf(chat.last).filter(p => p.state === 'output-error');
    t.check('the tool shows its failure', failed.length > 0, JSON.stringify(toolsOf(chat.last)));
    t.check(
      'the failure says why',
      failed.every(p => p.errorText?.length > 0),
      JSON.stringify(failed),
    );
    t.check('text follows the failure', textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(failed.at(-1))) }).length > 0);
  },
};
