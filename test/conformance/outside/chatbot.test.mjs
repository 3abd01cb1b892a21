// Vercel's chatbot template, as chatbot.jsx states its requests again in our own words.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { safeValidateUIMessages } from 'ai';
import { requests } from '../lib/browser.mjs';
import { asked, outcomes, over, posts, same } from '../lib/person.mjs';
import { until } from '../lib/site.mjs';
import { client } from './site.mjs';
import { inMidTurn } from './turns.mjs';

// The template neither stops a turn nor resumes one behind its own message, so its turns run to their end.
const it = client('chatbot.jsx', { settings: 'sessions:\n  on_disconnect: detach\n' });
const answers = async id => (await it.site.trace(id, 'permission_response')).map(r => r.payload);

describe('the chatbot template 3.1.0, re-stated, with ai 7.0.15', { concurrency: 4 }, () => {
  test('text: each request has the newest message only, and settings of the app', async () => {
    const p = await it.fresh();
    await p.say('hello');
    await p.shows('demo agent');
    await p.say('remember');
    await over(it.site, p, 'completed,completed', 2);
    await same(it.site, p);
    assert.deepEqual(
      posts(p.id).map(r => Object.keys(r.body)),
      Array(2).fill(['id', 'message', 'selectedChatModel', 'selectedVisibilityType']),
    );
    assert.equal(p.alert(), undefined);
  });

  test('a tool, and its output', async () => {
    const p = await it.fresh();
    await p.say('tool');
    await p.shows('The file says: Hello from the demo.');
    await over(it.site, p, 'completed', 1);
    assert.deepEqual(
      p.shown('pre').map(t => t.includes('read_file') && t.includes('Hello from the demo.')),
      [true],
    );
  });

  test('approval: Allow sends the whole conversation at once, and later prompts send it too', async () => {
    const p = await it.fresh();
    await p.say('approve');
    await p.answer('Allow');
    await p.shows('I was allowed to run it: echo hello');
    await over(it.site, p, 'completed', 2);
    assert.equal(posts(p.id)[1].body.messages.length, 2);
    await p.say('hello');
    await over(it.site, p, 'completed,completed', 3);
    await same(it.site, p);
  });

  test('approval: Deny goes out with the next prompt, and the agent gets both', async () => {
    const p = await it.fresh();
    await p.say('approve');
    await p.answer('Deny');
    await until('the page has noted the refusal', () => p.shown('pre').join().includes('approval-responded'));
    assert.deepEqual(await answers(p.id), []);
    await p.say('tool');
    await p.shows('The file says: Hello from the demo.');
    await until('both turns are over', async () => (await it.site.trace(p.id, 'stop')).length === 2);
    assert.deepEqual(
      (await answers(p.id)).map(a => a.chosen_option),
      ['deny'],
    );
    assert.equal((await answers(p.id))[0].reason, 'Denied in the page');
    assert.equal((await outcomes(it.site, p.id)).join(), 'completed,completed');
    assert.equal(posts(p.id).length, 2);
  });

  for (const profile of [undefined, '5', '6', '7']) {
    test(`the history passes the AI SDK's own check of messages, with ${profile ? `client=${profile}` : 'no client named'}`, async () => {
      const p = await it.fresh();
      const valid = async () => {
        const checked = await safeValidateUIMessages({ messages: await it.site.history(p.id, profile) });
        assert.ok(checked.success, String(checked.error));
      };
      await p.say('both');
      await until('a person is asked', () => p.has('Allow') && !p.has('Stop'));
      await valid();
      for (const approved of [true, false]) {
        const request = await until('a request waits', async () => (await it.site.get(`/api/sessions/${p.id}/requests`)).json.requests[0]);
        await it.site.post(`/api/sessions/${p.id}/permissions/${request.id}`, { approved, reason: 'because' });
        await until('the answer is on record', async () => (await answers(p.id)).some(a => a.request_id === request.id));
        await valid();
      }
      await until('the turn is over', async () => (await outcomes(it.site, p.id)).length === 1);
      await valid();
    });
  }

  test('two approvals, one after the other', async () => {
    const p = await it.fresh();
    await p.say('both');
    await p.answer('Allow');
    await asked(it.site, p, 'Run echo two');
    await p.answer('Allow');
    await over(it.site, p, 'completed', 3);
    assert.deepEqual(
      (await answers(p.id)).map(a => a.chosen_option),
      ['allow', 'allow'],
    );
    await same(it.site, p);
  });

  test('two approvals at the same time: the first Allow goes out alone, and no answer goes out twice', async () => {
    const p = await it.fresh();
    await p.say('mixed');
    await until('the question is asked', () => p.shown('pre').join().includes('AskUser') && !p.has('Stop'));
    await p.say('red');
    await until(
      () => `both are asked; the page shows ${p.shown('body').join(' ')}`,
      () => p.count('Allow') === 2 && !p.has('Stop'),
    );
    await p.press('Allow');
    await until('one is left', () => p.count('Allow') === 1 && !p.has('Stop'));
    await p.press('Allow');
    await over(it.site, p, 'completed', 4);
    assert.deepEqual(
      (await answers(p.id)).map(a => a.chosen_option),
      ['allow', 'allow'],
    );
  });

  test('a fault: stop only closes the connection', async () => {
    const p = await inMidTurn(it);
    await p.press('Stop');
    await until('the button is gone', () => !p.has('Stop'));
    await over(it.site, p, 'completed', 1);
  });

  test('a fault: a page that is reloaded in the middle of a turn does not ask for the rest, and another reload shows it', async () => {
    const p = await inMidTurn(it);
    const again = await p.reload();
    await over(it.site, again, 'completed', 1);
    assert.deepEqual(
      requests(p.id).filter(r => r.method === 'GET' && r.path.includes('/stream')),
      [],
    );
    await same(it.site, await again.reload());
  });

  test('reload while the turn waits', async () => {
    const p = await it.fresh();
    await p.say('approve');
    await until('a person is asked', () => p.has('Allow'));
    const again = await p.reload();
    await again.answer('Allow');
    await again.shows('I was allowed to run it: echo hello');
    await over(it.site, again, 'completed', 2);
    await same(it.site, again);
  });
});
