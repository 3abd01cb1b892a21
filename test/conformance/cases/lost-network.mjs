import { anonymous, textOf } from '../lib/message.mjs';

// evidence: promise-resume
export default {
  order: 1,
  about: 'the network is lost in mid-turn; the same tab resumes',
  async run(t) {
    const undisturbed = t.undisturbed('slow');
    const chat = await t.open();
    chat.send('slow');
    await chat.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    t.drop();
    await chat.settled();
    t.equal('the client shows the loss', chat.status, 'error');
    chat.resume();
    await t.resumed(chat);
    t.well(chat, 'the resumed turn ends without an error');
    t.equal('the message equals an undisturbed one', anonymous(chat.last), anonymous(await undisturbed));
    const page = await t.reload();
    t.equal('a reload shows it right', anonymous(page.last), anonymous(await undisturbed));
  },
};
