import fs from 'node:fs';
import path from 'node:path';
import { decide, sameInHistory, talk, verdict, withoutApprovals } from '../../lib/asking.mjs';
import { requestsOf, toolsOf } from '../../lib/message.mjs';
import { both } from '../../lib/script.mjs';

export default {
  order: 14,
  about: 'two tools in one message, outside the folder of the agent: it asks for one after the other',
  skip: withoutApprovals,
  async run(t) {
    const file = path.join(path.dirname(t.work), `${t.id}.txt`);
    fs.writeFileSync(file, 'outside\n');
    const chat = await talk(t);
    chat.send(both(file));
    const asked = [];
    for (let posts = 1; posts <= 4; posts++) {
      await chat.settled();
      const [request, ...more] = requestsOf(chat.last);
      if (!request) break;
      t.equal('one is asked for at a time', more, []);
      asked.push(request);
      decide(t, chat, request, true);
    }
    t.check('both are asked for', asked.length === 2, asked);
    await t.calm(chat, 1 + asked.length, 'both');
    t.equal(
      'the screen says so',
      asked.map(r => verdict(chat.last, r)),
      asked.map(() => 'allowed'),
    );
    t.equal(
      'both calls have their output, each once',
      toolsOf(chat.last)
        .filter(p => ['Read', 'Bash'].includes(p.toolName))
        .map(p => [p.toolName, p.state]),
      [
        ['Read', 'output-available'],
        ['Bash', 'output-available'],
      ],
    );
    await sameInHistory(t, chat);
  },
};
