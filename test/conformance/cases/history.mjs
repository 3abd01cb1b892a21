import { assistants, plain } from '../lib/message.mjs';

const WORDS = ['hello', 'think', 'tool', 'fail', 'parallel', 'usage'];

// evidence: promise-resume
export default {
  order: 5,
  about: 'after each finished turn the history equals the screen, part by part',
  async run(t) {
    const chat = await t.open();
    for (const word of WORDS) {
      chat.send(word);
      await chat.settled();
      t.must(`${word} ends without an error`, chat.status === 'ready' && !chat.error, chat.error?.message);
    }
    const history = await t.history();
    t.equal(
      'the roles are the same',
      history.map(m => m.role),
      chat.messages.map(m => m.role),
    );
    t.equal(
      'the ids are the same',
      history.map(m => m.id),
      chat.messages.map(m => m.id),
    );
    const shown = assistants(chat.messages),
      kept = assistants(history);
    for (const [i, word] of WORDS.entries()) {
      t.equal(`${word}: the parts are the same`, t.kept(kept[i]?.parts), plain(shown[i].parts));
      t.equal(`${word}: the metadata is the same`, kept[i]?.metadata, plain(shown[i].metadata));
    }
    const users = list => list.filter(m => m.role === 'user').map(m => m.parts);
    t.equal('the prompts are the same', users(history), plain(users(chat.messages)));
    const page = await t.reload();
    page.send('hello');
    await page.settled();
    t.well(page, 'a page that starts from the history goes on');
    t.equal('and shows one turn more', page.messages.length, 2 * WORDS.length + 2);
  },
};
