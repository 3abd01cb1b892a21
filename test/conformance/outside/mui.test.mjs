// MUI X Chat without MUI's looks: a parser of the stream and a message of their own. The gateway holds the stream open while it waits.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asked, over, same } from '../lib/person.mjs';
import { until } from '../lib/site.mjs';
import { client } from './site.mjs';
import { stopsAndResumes } from './turns.mjs';

const it = client('mui.jsx', { settings: 'sessions:\n  approval: hold\n', resumes: true });
const chosen = async id => (await it.site.trace(id, 'permission_response')).map(r => r.payload.chosen_option).join();

describe('@mui/x-chat-headless 9.0.0-alpha.18, createAiSdkAdapter', { concurrency: 4 }, () => {
  test('text', async () => {
    const p = await it.fresh();
    await p.say('hello');
    await p.shows('demo agent');
    await over(it.site, p, 'completed', 1);
    await p.say('remember');
    await over(it.site, p, 'completed,completed', 2);
    await same(it.site, p);
    assert.equal(p.alert(), undefined);
  });

  test('text that is cut inside its characters', async () => {
    const p = await it.fresh();
    await p.say('unicode');
    await over(it.site, p, 'completed', 1);
    await same(it.site, p);
  });

  test('reasoning', async () => {
    const p = await it.fresh();
    await p.say('think');
    await over(it.site, p, 'completed', 1);
    await until('the reasoning is shown', () => p.shown('em').join().includes('I shall look thoughtful'));
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
    await same(it.site, p);
  });

  for (const [button, option, heard] of [
    ['Allow', 'allow', 'I was allowed to run it: echo hello'],
    ['Deny', 'deny', 'I did not run the command'],
  ]) {
    test(`approval: ${button}`, async () => {
      const p = await it.fresh();
      await p.say('approve');
      await p.press(button);
      await p.shows(heard);
      await over(it.site, p, 'completed', 1);
      assert.equal(await chosen(p.id), option);
      await same(it.site, p);
    });
  }

  test('a fault: a requested approval removes the name and the input of its call from the page, until a reload', async () => {
    const p = await it.fresh();
    await p.say('approve');
    await p.press('Allow');
    await over(it.site, p, 'completed', 1);
    await until('the output is shown', () => p.shown('pre').join().includes('output-available'));
    assert.doesNotMatch(p.shown('pre').join(), /shell/);
    const again = await p.reload();
    await until('the call has its name', () => /shell/.test(again.shown('pre').join()));
  });

  test('two approvals', async () => {
    const p = await it.fresh();
    await p.say('both');
    await p.press('Deny');
    await asked(it.site, p, 'Run echo two');
    await p.press('Allow');
    await over(it.site, p, 'completed', 1);
    assert.equal(await chosen(p.id), 'deny,allow');
    await same(it.site, p);
  });

  test('a failure is a sentence', async () => {
    const p = await it.fresh();
    await p.say('error');
    await until('there is an alert', () => p.alert());
    assert.equal(p.alert(), 'The demo agent failed, as it was asked to.');
  });

  stopsAndResumes(it);

  test('reload while the turn waits', async () => {
    const p = await it.fresh();
    await p.say('approve');
    await until('a person is asked', () => p.has('Allow'));
    const again = await p.reload();
    await again.press('Allow');
    await again.shows('I was allowed to run it: echo hello');
    await over(it.site, again, 'completed', 1);
    await same(it.site, again);
  });
});
