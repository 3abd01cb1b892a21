import { begin, theirs } from '../../lib/agentops.mjs';
import { assistants, textOf } from '../../lib/message.mjs';

export default {
  about: 'a prompt behind one that runs waits its turn, and both answers are whole',
  async run(t) {
    await begin(t);
    const chat = await t.open();
    chat.send('slow');
    await chat.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 20);
    chat.send('hello');
    await chat.settled();
    t.well(chat);
    const here = await t.history(),
      there = await theirs(t);
    t.equal(
      'history holds both in order',
      here.map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    t.equal('the other side says the same', there.map(textOf), here.map(textOf));
    t.check('the second answer is its own', textOf(here[3]).startsWith('Hello!'), textOf(here[3]));
    t.check(
      'the page shows it',
      assistants(chat.messages).some(m => textOf(m) === textOf(here[3])),
      JSON.stringify(chat.messages.map(textOf)),
    );
  },
};
