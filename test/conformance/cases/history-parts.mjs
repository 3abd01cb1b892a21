import { assistants, plain } from '../lib/message.mjs';

const WORDS = ['plan', 'file', 'data', 'subagent', 'unicode', 'big', 'all'];

// evidence: promise-resume
export default {
  order: 6,
  about: 'as history, for the rarer parts: plans, sources and files, data, sub-agents, cut characters, a large output',
  async run(t) {
    const chat = await t.open();
    for (const word of WORDS) {
      chat.send(word);
      await chat.settled();
      t.must(`${word} ends without an error`, chat.status === 'ready' && !chat.error, chat.error?.message);
    }
    const kept = assistants(await t.history()),
      shown = assistants(chat.messages);
    for (const [i, word] of WORDS.entries()) {
      t.equal(`${word}: the parts are the same`, t.kept(kept[i]?.parts), plain(shown[i].parts));
      t.check(`${word}: no character is torn`, !JSON.stringify(shown[i].parts).includes('\ufffd'));
    }
  },
};
