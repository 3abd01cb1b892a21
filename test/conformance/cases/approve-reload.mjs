import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { requestOf, textOf } from '../lib/message.mjs';

// evidence: promise-waits
export default {
  order: 17,
  about: 'reload while a request is open, with history, with a resume, and with a resume alone: the request is there and can be answered',
  skip: withoutApprovals,
  async run(t) {
    for (const [name, history, resume] of [
      ['history', true, false],
      ['history and resume', true, true],
      ['resume', false, true],
    ]) {
      // The first releases copy the message they start from into the resumed one.
      if (history && resume && !t.client.keepsQuery) continue;
      const id = `${t.id}-${name.replaceAll(' ', '-')}`;
      const before = await talk(t, { id });
      const request = await untilAsked(t, before, 'approve');
      await before.close();
      const messages = (await t.history(id)).filter(m => history || m.role === 'user');
      const page = await talk(t, { id, messages, resume });
      if (resume) {
        if (t.way === 'chat') page.resume();
        await t.resumed(page, id);
      }
      t.equal(`${name}: the request is shown`, requestOf(page.last), request);
      t.equal(
        `${name}: once`,
        page.messages.map(m => m.role),
        ['user', 'assistant'],
      );
      decide(t, page, request, true);
      await t.calm(page, 2, name, id);
      t.equal(`${name}: the screen says so`, verdict(page.last, request), 'allowed');
      t.check(`${name}: text follows`, textOf(page.last).endsWith('I was allowed to run it: echo hello'), textOf(page.last));
      await sameInHistory(t, page, `${name}: history shows the same`, id);
    }
  },
};
