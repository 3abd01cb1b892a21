import { begin, farRests } from '../../lib/agentops.mjs';
import { decide, talk, untilAsked, withoutApprovals } from '../../lib/asking.mjs';
import { requestPart, textOf } from '../../lib/message.mjs';

export default {
  about: 'an approval, through two gateways: allowed, then denied; what is decided here happens there',
  skip: withoutApprovals,
  async run(t) {
    await begin(t);
    const chat = await talk(t);
    for (const [allowed, said] of [
      [true, 'I was allowed to run it'],
      [false, 'I did not run the command'],
    ]) {
      const request = await untilAsked(t, chat, 'approve', `allowed ${allowed}: the page shows the request`);
      const message = chat.last.id;
      decide(t, chat, request, allowed);
      await chat.settled();
      t.well(chat, `allowed ${allowed}: ends without an error`);
      t.equal(`allowed ${allowed}: under the same message`, chat.last.id, message);
      t.check(
        `allowed ${allowed}: it is settled on screen`,
        !['approval-requested', 'approval-responded'].includes(requestPart(chat.last, request)?.state),
        JSON.stringify(chat.last.parts),
      );
      t.check(`allowed ${allowed}: the agent heard it`, textOf(chat.last).includes(said), textOf(chat.last));
    }
    await farRests(t);
    const lines = (await t.site.far.get(`/api/sessions/${t.id}/trace`)).text
      .split('\n')
      .filter(Boolean)
      .map(l => JSON.parse(l));
    t.equal('the other side has two answers on record', lines.filter(l => l.type === 'permission_response').length, 2);
  },
};
