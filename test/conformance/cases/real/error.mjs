import { textOf } from '../../lib/message.mjs';
import { say } from '../../lib/script.mjs';

export default {
  about: 'the provider refuses: the client shows a sentence, history says failed, the next prompt works',
  async run(t) {
    const chat = await t.open();
    chat.send('[[script:error 400]]');
    await chat.settled();
    t.equal('the client shows an error', chat.status, 'error');
    t.check('it says what the provider said', /scripted error 400/.test(chat.error?.message ?? ''), chat.error?.message);
    const last = (await t.history()).at(-1);
    t.equal('history says that it failed', last.metadata?.outcome, 'failed');
    chat.send(say('All is well again.'));
    await chat.settled();
    t.well(chat, 'the next prompt works');
    t.equal('the next answer is shown', textOf(chat.last), 'All is well again.');
  },
};
