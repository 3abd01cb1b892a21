import { anonymous, textOf } from '../lib/message.mjs';

// evidence: promise-disconnect promise-resume
export default {
  order: 1,
  about: 'the page is gone in mid-turn; the new page resumes and ends with the message of an undisturbed turn',
  async run(t) {
    const undisturbed = t.undisturbed('slow');
    const before = await t.open();
    before.send('slow');
    await before.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    t.drop();
    const page = await t.reload({ resume: true });
    if (t.way === 'chat') page.resume();
    await t.resumed(page);
    t.well(page);
    t.equal(
      'one prompt, one answer',
      page.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.equal('the message equals an undisturbed one', anonymous(page.last), anonymous(await undisturbed));
    t.equal(
      'the prompt is run once',
      (await t.history()).map(m => m.role),
      ['user', 'assistant'],
    );
  },
};
