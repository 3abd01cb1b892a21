import { assistants, plain } from '../../lib/message.mjs';
import { read, say } from '../../lib/script.mjs';

export default {
  order: 14,
  about: 'after each finished turn the history equals the screen, part by part',
  async run(t) {
    const chat = await t.open(),
      turns = {
        text: say('A few words.'),
        reasoning: '[[script:think]]',
        tool: read(`${t.work}/hello.txt`),
        'two tools': `[[script:both ${t.work}/hello.txt]]`,
        'a failing tool': read(`${t.work}/not-there.txt`),
        silence: '[[script:empty]]',
      };
    for (const [what, prompt] of Object.entries(turns)) {
      chat.send(prompt);
      await chat.settled();
      t.must(`${what} ends without an error`, chat.status === 'ready' && !chat.error, chat.error?.message);
    }
    const history = await t.history();
    t.equal(
      'the ids are the same',
      history.map(m => m.id),
      chat.messages.map(m => m.id),
    );
    const shown = assistants(chat.messages),
      kept = assistants(history);
    for (const [i, what] of Object.keys(turns).entries()) {
      t.equal(`${what}: the parts are the same`, t.kept(kept[i]?.parts), plain(shown[i]?.parts));
      t.equal(`${what}: the metadata is the same`, kept[i]?.metadata, plain(shown[i]?.metadata));
    }
    const users = list => list.filter(m => m.role === 'user').map(m => m.parts);
    t.equal('the prompts are the same', users(history), plain(users(chat.messages)));
  },
};
