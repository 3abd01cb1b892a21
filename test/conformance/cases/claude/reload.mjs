import { anonymous, textOf } from '../../lib/message.mjs';
import { SLOW_TEXT, slow } from '../../lib/script.mjs';

export default {
  order: 11,
  about: 'the page is gone in mid-turn; the new page resumes and ends with the message of an undisturbed turn',
  async run(t) {
    const before = await t.open();
    before.send(slow(60));
    await before.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 20);
    t.drop();
    // The first releases copy the message they start from into the resumed one: their apps resume with the prompt only.
    const messages = (await t.history()).filter(m => m.role === 'user' || t.client.keepsQuery);
    const page = await t.open({ messages, resume: true });
    if (t.way === 'chat') page.resume();
    await t.resumed(page);
    t.well(page);
    t.equal(
      'one prompt, one answer',
      page.messages.map(m => m.role),
      ['user', 'assistant'],
    );
    t.equal('the text is whole', textOf(page.last), SLOW_TEXT);
    t.equal('the message equals an undisturbed one', anonymous(page.last), anonymous(await t.undisturbed(slow(60))));
    t.equal(
      'the prompt is run once',
      (await t.history()).map(m => m.role),
      ['user', 'assistant'],
    );
  },
};
