import { decide, reply, talk, untilAsked, untilQuestion, withoutApprovals } from '../lib/asking.mjs';

export default {
  order: 17,
  about: 'an answer in a message that another tab has removed: the error is one sentence, and no client retries',
  async run(t) {
    for (const kind of ['approve', 'ask']) {
      if (kind === 'approve' && withoutApprovals({ client: t.client, profile: t.profile ? 'own' : 'none' })) continue;
      const id = `${t.id}-${kind}`;
      const chat = await talk(t, { id });
      const asked = await (kind === 'ask' ? untilQuestion : untilAsked)(t, chat, kind);
      const other = await t.open({ id, messages: await t.history(id) });
      other.send('hello', { messageId: other.messages[0].id });
      await t.calm(other, 2, `${kind}: the edit`, id);
      let why = '';
      chat.watch(c => {
        why = c.error?.message ?? why;
      });
      if (kind === 'ask') reply(chat, asked, 'blue');
      else decide(t, chat, asked, true);
      await new Promise(r => setTimeout(r, 1000));
      t.check(`${kind}: no loop`, t.posts(id) <= 3, t.posts(id));
      await chat.stop();
      await chat.settled();
      t.check(`${kind}: the page says why`, /not waiting for an answer/.test(chat.error?.message ?? why), `${chat.status} ${why}`);
      t.equal(
        `${kind}: the edit stands`,
        (await t.history(id)).map(m => m.id),
        other.messages.map(m => m.id),
      );
    }
  },
};
