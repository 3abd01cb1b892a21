import fs from 'node:fs';
import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../../lib/asking.mjs';
import { requestOf, toolsOf, textOf } from '../../lib/message.mjs';
import { write } from '../../lib/script.mjs';

export default {
  order: 14,
  about: 'reload while the agent waits, and answer on the new page; and an answer that is typed',
  skip: withoutApprovals,
  async run(t) {
    const file = `${t.work}/${t.id}-reload.txt`,
      other = `${t.work}/${t.id}-typed.txt`;
    const before = await talk(t);
    const request = await untilAsked(t, before, write(file));
    await before.close();
    const page = await talk(t, { messages: await t.history() });
    t.equal('the request is shown', requestOf(page.last), request);
    decide(t, page, request, true);
    await t.calm(page, 2, 'after the reload');
    t.equal('the screen says so', verdict(page.last, request), 'allowed');
    t.check('the file is written', fs.existsSync(file));
    await sameInHistory(t, page);

    await untilAsked(t, page, write(other), 'the second request is shown');
    page.send('yes');
    await t.calm(page, 4, 'typed');
    t.check('typed: the file is written', fs.existsSync(other));
    t.check(
      'typed: the call goes on below',
      toolsOf(page.last).some(p => p.toolName === 'Write' && p.state === 'output-available'),
      JSON.stringify(page.last.parts),
    );
    t.check('typed: text follows', /Done\. The tool said: File created/.test(textOf(page.last)), textOf(page.last));
    t.equal(
      'typed: history holds what was said',
      (await t.history()).map(m => m.id),
      page.messages.map(m => m.id),
    );
  },
};
