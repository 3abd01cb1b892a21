import { anonymous, assistants, textOf } from '../lib/message.mjs';

// evidence: promise-prompt-once
export default {
  order: 2,
  about: 'a second prompt while the first runs waits its turn, and both end right',
  async run(t) {
    const slow = t.undisturbed('slow'),
      hello = t.undisturbed('hello');
    const chat = await t.open();
    chat.send('slow');
    await chat.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 20);
    chat.send('hello');
    await chat.settled();
    t.well(chat);
    const answers = assistants(chat.messages);
    t.equal('there are two answers', answers.length, 2);
    const by = first => answers.find(m => textOf(m) === textOf(first));
    t.equal('the first answer is whole', anonymous(by(await slow)), anonymous(await slow));
    t.equal('the second answer is whole', anonymous(by(await hello)), anonymous(await hello));
    const history = await t.history();
    t.equal(
      'history holds them in order',
      history.map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    t.equal('each answer follows its prompt', [textOf(history[1]), textOf(history[3])], [textOf(await slow), textOf(await hello)]);
  },
};
