import fs from 'node:fs';
import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../../lib/asking.mjs';
import { requestPart, textOf } from '../../lib/message.mjs';
import { write } from '../../lib/script.mjs';

export default {
  order: 14,
  about: 'approvals by the tool part: allowed, denied with a reason, allowed for always, with an edited input',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    let posts = 0;
    for (const [name, approved, more, written] of [
      ['denied', false, { reason: 'not today' }, null],
      [
        'edited',
        true,
        { updated_input: { file_path: `${t.work}/${t.id}-edited.txt`, content: 'edited by its user\n' } },
        'edited by its user\n',
      ],
      ['allowed', true, {}, 'written by the scripted model\n'],
      ['always', true, { option: 'always' }, 'written by the scripted model\n'], // the last, because no request follows an "always"
    ]) {
      const file = `${t.work}/${t.id}-${name}.txt`;
      const request = await untilAsked(t, chat, write(file), `${name}: the page shows the request`);
      t.check(`${name}: nothing is written before the answer`, !fs.existsSync(file));
      const message = chat.last.id;
      decide(t, chat, request, approved, more);
      posts += 2;
      await t.calm(chat, posts, name);
      t.equal(`${name}: the same message goes on`, chat.last.id, message);
      t.equal(`${name}: the screen says so`, verdict(chat.last, request), approved ? 'allowed' : 'denied');
      t.equal(`${name}: the file is as it was allowed`, fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null, written);
      const rest = textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(requestPart(chat.last, request))) });
      t.check(
        `${name}: the agent hears it`,
        approved ? /Done\. The tool said: File created/.test(rest) : /Done\. The tool said: .*not today/.test(rest),
        rest,
      );
    }
    t.equal(
      'all answers are on record',
      (await t.trace('permission_response')).map(r => [r.payload.option_kind, !!r.payload.by, r.actor]),
      [
        ['reject_once', true, 'user'],
        ['allow_once', true, 'user'],
        ['allow_once', true, 'user'],
        ['allow_always', true, 'user'],
      ],
    );
    await sameInHistory(t, chat);
  },
};
