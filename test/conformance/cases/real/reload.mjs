import { textOf } from '../../lib/message.mjs';
import { SLOW_TEXT, slow } from '../../lib/script.mjs';

export default {
  order: 11,
  about: 'the page is gone in mid-turn; the new page resumes and ends with the whole message; the agent remembers',
  async run(t) {
    const before = await t.open();
    before.send(slow(60));
    await before.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 20);
    t.drop();
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
    page.send('[[script:recall]]');
    await page.settled();
    t.well(page, 'the next prompt works');
    t.check('the agent knows the first prompt', textOf(page.last).includes('[[script:slow 60]]'), textOf(page.last));
  },
};
