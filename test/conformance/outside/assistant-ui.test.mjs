// assistant-ui with its own transport, AssistantChatTransport of @assistant-ui/ai-sdk. ../frameworks.test.mjs has the stock one.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { over, posts, same } from '../lib/person.mjs';
import { until } from '../lib/site.mjs';
import { client } from './site.mjs';
import { stopsAndResumes } from './turns.mjs';

const it = client('assistant-ui.jsx', { resumes: true });
const chosen = async id => (await it.site.trace(id, 'permission_response')).map(r => r.payload.chosen_option).join();

describe('@assistant-ui/react 0.15.22, AssistantChatTransport of @assistant-ui/ai-sdk 0.0.7', { concurrency: 4 }, () => {
  test('text; the gateway passes over the settings that the transport sends', async () => {
    const p = await it.fresh();
    await p.say('hello');
    await p.shows('demo agent');
    await p.say('remember');
    await over(it.site, p, 'completed,completed', 2);
    await same(it.site, p);
    assert.deepEqual(Object.keys(posts(p.id)[0].body), ['tools', 'id', 'messages', 'trigger']);
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

  for (const [button, option, heard] of [
    ['Allow', 'allow', 'I was allowed to run it: echo hello'],
    ['Deny', 'deny', 'I did not run the command'],
  ]) {
    test(`approval: ${button}`, async () => {
      const p = await it.fresh();
      await p.say('approve');
      await p.answer(button);
      await p.shows(heard);
      await over(it.site, p, 'completed', 2);
      assert.equal(await chosen(p.id), option);
      await same(it.site, p);
    });
  }

  test('approval: a typed yes, where cancelPendingToolCallsOnSend is false, leaves no call that reads as cancelled', async () => {
    const p = await it.fresh();
    await p.say('approve');
    await until('a person is asked', () => p.has('Allow') && !p.has('Stop'));
    await p.say('yes');
    await p.shows('I was allowed to run it: echo hello');
    await over(it.site, p, 'completed', 2);
    assert.equal(await chosen(p.id), 'allow');
    assert.doesNotMatch(JSON.stringify(posts(p.id).at(-1).body.messages), /cancelled tool call/i);
  });

  stopsAndResumes(it);

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
