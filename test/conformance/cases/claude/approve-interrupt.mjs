import fs from 'node:fs';
import { decide, talk, untilAsked, verdict, withoutApprovals } from '../../lib/asking.mjs';
import { textOf } from '../../lib/message.mjs';
import { say, write } from '../../lib/script.mjs';

export default {
  order: 14,
  about: 'a refusal that ends the turn: the agent stops, and goes on with the next prompt',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t),
      file = `${t.work}/${t.id}-interrupted.txt`;
    const request = await untilAsked(t, chat, write(file));
    decide(t, chat, request, false, { reason: 'stop it', interrupt: true });
    await t.calm(chat, 2, 'interrupted');
    t.equal('the screen says so', verdict(chat.last, request), 'denied');
    t.check('nothing is written', !fs.existsSync(file));
    t.check('nothing more is said', !textOf(chat.last).includes('Done.'), textOf(chat.last));
    t.equal('history says canceled', (await t.history()).at(-1).metadata?.outcome, 'canceled');
    chat.send(say('I am here.'));
    await t.calm(chat, 3, 'the next prompt');
    t.equal('the agent goes on', textOf(chat.last), 'I am here.');
  },
};
