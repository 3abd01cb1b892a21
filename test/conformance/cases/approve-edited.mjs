import { decide, sameInHistory, talk, untilAsked, verdict, withoutApprovals } from '../lib/asking.mjs';
import { textOf, toolsOf } from '../lib/message.mjs';

export default {
  order: 20,
  about: 'an approval with an edited input: the agent runs what was edited',
  skip: withoutApprovals,
  async run(t) {
    const chat = await talk(t);
    const request = await untilAsked(t, chat, 'approve');
    decide(t, chat, request, true, { updated_input: { command: 'echo bye' } });
    await t.calm(chat, 2, 'edited');
    t.equal('the screen says so', verdict(chat.last, request), 'allowed');
    t.check('the agent ran what was edited', textOf(chat.last).endsWith('I was allowed to run it: echo bye'), textOf(chat.last));
    t.equal('the output is that of what was edited', toolsOf(chat.last).find(p => p.toolName === 'shell')?.output, {
      stdout: 'bye\n',
      exit_code: 0,
    });
    t.equal(
      'it is on record',
      (await t.trace('permission_response')).map(r => r.payload.updated_input),
      [{ command: 'echo bye' }],
    );
    await sameInHistory(t, chat);
  },
};
