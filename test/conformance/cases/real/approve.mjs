import fs from 'node:fs';
import { decide, talk, untilAsked, verdict, withoutApprovals } from '../../lib/asking.mjs';
import { textOf, toolsOf } from '../../lib/message.mjs';
import { escalate } from '../../lib/script.mjs';

export default {
  order: 12,
  about: 'a person is asked before a command runs: denied, it does not run; allowed, it does, and history says who allowed it',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    for (const [name, approved] of [
      ['allowed', true],
      ['denied', false],
    ]) {
      const file = `${t.work}/${t.id}-${name}`,
        before = t.requests().length;
      const request = await untilAsked(t, chat, escalate(`touch ${file}`), `${name}: the page shows the request`);
      t.check(`${name}: nothing runs before the answer`, !fs.existsSync(file));
      const message = chat.last.id;
      decide(t, chat, request, approved);
      await t.calm(chat, before + 2, name);
      t.equal(`${name}: the same message goes on`, chat.last.id, message);
      t.equal(`${name}: the screen says so`, verdict(chat.last, request), name);
      t.equal(`${name}: the command ran if it might`, fs.existsSync(file), approved);
      t.check(
        `${name}: no call is left open`,
        toolsOf(chat.last).every(p => p.state.startsWith('output-')),
        JSON.stringify(chat.last.parts),
      );
      if (approved) t.check('allowed: text follows', textOf(chat.last).includes('Done. The tool said: '), textOf(chat.last));
    }
    t.equal(
      'both answers are on record',
      (await t.trace('permission_response')).map(r => [r.payload.option_kind, !!r.payload.by, r.actor]),
      [
        ['allow_once', true, 'user'],
        ['reject_once', true, 'user'],
      ],
    );
  },
};
