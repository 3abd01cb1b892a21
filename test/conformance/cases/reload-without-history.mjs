import { anonymous, textOf } from '../lib/message.mjs';

// evidence: promise-resume
export default {
  order: 1,
  about: 'as reload, for an app that resumes with the prompt only: no release doubles anything',
  async run(t) {
    const undisturbed = t.undisturbed('slow');
    const before = await t.open();
    before.send('slow');
    await before.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    t.drop();
    const page = await t.open({ messages: (await t.history()).filter(m => m.role === 'user'), resume: true });
    if (t.way === 'chat') page.resume();
    await t.resumed(page);
    t.well(page);
    t.equal(
      'one prompt, one answer',
      page.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.equal('the message equals an undisturbed one', anonymous(page.last), anonymous(await undisturbed));
  },
};
