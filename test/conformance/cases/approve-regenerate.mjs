import { decide, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf } from '../lib/message.mjs';

export default {
  order: 17,
  about: 'regenerate and edit while a request is open: the turn ends, the new one has a request of its own',
  skip: withoutApprovals,
  async run(t) {
    for (const kind of ['regenerate', 'edit']) {
      const id = `${t.id}-${kind}`;
      const chat = await talk(t, { id });
      const old = await untilAsked(t, chat, 'approve');
      const was = chat.last.id;
      if (kind === 'regenerate') chat.regenerate();
      else chat.send('approve it again', { messageId: chat.messages[0].id });
      const request = await untilAsked(t, chat, null, `${kind}: the new turn asks too`);
      t.check(`${kind}: for something of its own`, request !== old && chat.last.id !== was, request);
      t.equal(
        `${kind}: it replaces the old answer`,
        chat.messages.map(m => m.role),
        ['user', 'assistant'],
      );
      const forged = await t.site.post(`/api/sessions/${encodeURIComponent(id)}/permissions/${encodeURIComponent(old)}`, {
        approved: true,
      });
      t.check(`${kind}: the old request cannot be answered any more`, forged.status === 409 || forged.status === 404, forged.status);
      decide(t, chat, request, true);
      await t.calm(chat, 3, kind, id);
      t.equal(`${kind}: the screen says so`, verdict(chat.last, request), 'allowed');
      t.check(`${kind}: text follows`, textOf(chat.last).endsWith('I was allowed to run it: echo hello'), textOf(chat.last));
      t.equal(
        `${kind}: history shows what the screen shows`,
        (await t.history(id)).map(m => m.id),
        chat.messages.map(m => m.id),
      );
    }
  },
};
