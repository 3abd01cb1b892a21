// The terminal UI of @ai-sdk/tui, in a terminal of its own process. It has no history of its own and no stop but its end.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { gateway, until } from '../lib/site.mjs';
import { HERE } from './site.mjs';
import { terminal } from './terminal.mjs';

let site;
const open = new Set();
before(async () => {
  site = await gateway('sessions:\n  grace: 300ms\n  grace_limit: 600ms\n');
});
after(async () => {
  for (const t of open) await t.close();
  await site.stop();
});

/** The terminal UI, at its first prompt. Where it is stock, the id of its session is its own. */
async function start(session) {
  const known = new Set((await sessions()).map(s => s.id));
  const t = terminal([process.execPath, 'tui.mjs', site.base, site.token, ...(session ? [session] : [])], HERE);
  open.add(t);
  await t.shows('Waiting for input');
  return {
    ...t,
    async say(text) {
      await t.shows('┌ Input'); // while it shows an answer, it takes no prompt
      t.keys(text);
      await t.shows(`> ${text}`);
      t.keys('\r');
    },
    id: async () => session ?? (await until('there is a session', async () => (await sessions()).find(s => !known.has(s.id)))).id,
  };
}
const sessions = async () => (await site.get('/api/sessions')).json.sessions;
const traced = async (id, type, key) => (await site.trace(id, type)).map(r => r.payload[key]).join();
const over = (id, outcomes) => until(`the turns are ${outcomes}`, async () => (await traced(id, 'stop', 'outcome')) === outcomes);

describe('@ai-sdk/tui 1.0.112', () => {
  test('text, reasoning, a tool, approvals: one conversation', async () => {
    const t = await start();
    await t.say('hello');
    await t.shows('I am the demo agent');
    const id = await t.id();
    await t.say('think');
    await t.shows('Reasoning');
    await t.shows('the answer is yes.');
    await t.say('tool');
    await t.shows('Read hello.txt');
    await t.shows('The file says: Hello from the demo.');
    await t.say('approve');
    await t.shows('Approve tool Run echo hello? y/n');
    t.keys('y');
    await t.shows('I was allowed to run it: echo hello');
    await t.say('approve');
    await t.shows('Approve tool Run echo hello? y/n');
    t.keys('n');
    await t.shows('I did not run the command');
    await over(id, 'completed,completed,completed,completed,completed');
    assert.equal(await traced(id, 'permission_response', 'chosen_option'), 'allow,deny');
    t.keys('\u0003');
    assert.equal(await t.exited, 0);
  });

  test('a failure is shown', async () => {
    const t = await start();
    await t.say('error');
    await t.shows('The demo agent failed, as it was asked to.');
  });

  test('the end of the program in the middle of a turn stops the turn after the grace period', async () => {
    const id = randomUUID();
    await site.post('/api/sessions', { id, agent: 'unhurried' });
    const t = await start(id);
    await t.say('slow');
    await t.shows('many streams flow into');
    t.keys('\u0003');
    await t.exited;
    await over(id, 'canceled');
  });

  test('with a transport that names the session, a new start goes on with the conversation', async () => {
    const id = randomUUID(),
      first = await start(id);
    await first.say('hello');
    await first.shows('I am the demo agent');
    await over(id, 'completed');
    first.keys('\u0003');
    await first.exited;
    const second = await start(id);
    await second.say('remember');
    await second.shows('• hello');
    await over(id, 'completed,completed');
    assert.equal((await site.history(id)).length, 4);
  });
});
