import { textOf } from '../../lib/message.mjs';
import { say } from '../../lib/script.mjs';

export default {
  about: "the provider refuses: the client shows the agent's sentence, history says failed, the next prompt works",
  async run(t) {
    const chat = await t.open();
    chat.send('[[script:error 400]]');
    await chat.settled();
    t.equal('the client shows an error', chat.status, 'error');
    t.equal("it is the agent's sentence", chat.error?.message, 'API Error: 400 scripted error 400');
    const last = (await t.history()).at(-1);
    t.equal('history says that it failed', last.metadata?.outcome, 'failed');
    t.equal(
      'history ends in the same sentence',
      [last.parts.at(-1)?.type, last.parts.at(-1)?.data?.message],
      ['data-error', chat.error?.message],
    );
    t.equal('the sentence is no message of the model', textOf(last), '');
    chat.send(say('All is well again.'));
    await chat.settled();
    t.well(chat, 'the next prompt works');
    t.equal('the next answer is shown', textOf(chat.last), 'All is well again.');
  },
};
