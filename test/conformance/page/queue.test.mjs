// Prompts that wait, messages into the turn that runs, and Stop.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits, VIEWS } from './lib/views.mjs';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-queue-'));
const BOB = 'a-token-of-bob-0123456789';
fs.writeFileSync(path.join(dir, 'bob'), BOB);

useChromium();
after(() => fs.rmSync(dir, { recursive: true, force: true }));
const site = useGateway(
  `auth:\n  tokens: [{name: bob, role: collaborator, token_file: ${path.join(dir, 'bob')}}]\nagents:\n  demo:\n    options: {pace: 2ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 20ms}\n  patient:\n    adapter: demo\n    options: {pace: 1s}\n`,
);

const field = page => page.getByRole('textbox', { name: 'Your message' });
const waiting = page => page.getByRole('region', { name: 'Waiting prompts' });
const row = (page, text) => waiting(page).getByRole('listitem').filter({ hasText: text });
const stop = page => page.getByRole('button', { name: 'Stop', exact: true });
const onHold = page => waiting(page).getByText(/held until somebody continues/);
const goOn = page => waiting(page).getByRole('button', { name: 'Continue' }).press('Enter');
const state = async id => (await site.get(`/api/sessions/${id}`)).json.state;
const outcome = async id => (await site.get(`/api/sessions/${id}`)).json.outcome;
const prompts = async id =>
  (await site.history(id)).filter(m => m.role === 'user').map(m => m.parts.map(p => p.text ?? p.filename).join(' '));
const rows = async page => (await waiting(page).getByRole('listitem').allInnerTexts()).map(t => t.split('\n')[0]);

/** A turn that ends when it is stopped: no test waits for its end, however slow the machine is. */
const ENDLESS = 'slow 10000';

/** A page whose agent is at work, slowly. */
async function working(options) {
  const id = randomUUID();
  assert.equal((await site.post('/api/sessions', { id, agent: 'unhurried' })).status, 201);
  const page = await open(site, `#/s/${id}`, options);
  await page.say(ENDLESS);
  await page.getByText('many streams').waitFor();
  return { page, id };
}
async function queued(texts, options) {
  const { page, id } = await working(options);
  for (const [i, text] of texts.entries()) {
    await page.say(text);
    await until(`${text} waits`, async () => (await rows(page)).length === i + 1);
  }
  return { page, id };
}
const prompt = (id, text, token = site.token) =>
  fetch(`${site.base}/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ id, messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }] }),
  });

test('prompts that are sent while the agent works wait above the composer, and run in their order', async () => {
  const { page, id } = await queued(['hello', 'usage', 'tool', 'think', 'remember', 'unicode', 'data']);
  assert.deepEqual(await rows(page), ['hello', 'usage', 'tool', 'think', 'remember', 'unicode', 'data']);
  assert.equal(await page.getByRole('article', { name: 'You' }).count(), 1, 'they are not among the messages yet');
  await stop(page).click();
  await onHold(page).waitFor();
  await goOn(page);
  await until('all have run', async () => (await state(id)) === 'idle' && (await site.history(id)).length === 16);
  await until('the list is gone', async () => (await waiting(page).count()) === 0);
  await until('all are shown', async () => (await page.getByRole('article', { name: 'The agent' }).count()) === 8);
  assert.deepEqual(await prompts(id), [ENDLESS, 'hello', 'usage', 'tool', 'think', 'remember', 'unicode', 'data']);
  await page.leave();
});

test('a prompt that waits is changed in its place', async () => {
  const { page, id } = await queued(['hello', 'usage']);
  await row(page, 'usage').getByRole('button', { name: 'Edit: usage' }).press('Enter');
  await page.getByRole('textbox', { name: 'Waiting prompt' }).fill('tool');
  await page.keyboard.press('Enter');
  await until('the list has the new text', async () => (await rows(page)).join() === 'hello,tool');
  await stop(page).click();
  await goOn(page);
  await page.getByText('The file says').waitFor();
  assert.deepEqual(await prompts(id), [ENDLESS, 'hello', 'tool']);
  await page.leave();
});

test('a prompt that waits is removed', async () => {
  const { page, id } = await queued(['hello', 'usage']);
  await row(page, 'hello').getByRole('button', { name: 'Remove: hello' }).press('Enter');
  await until('one is left', async () => (await rows(page)).join() === 'usage');
  await stop(page).click();
  await goOn(page);
  await page.getByText('Counting what this cost').waitFor();
  await until('it is at rest', async () => (await state(id)) === 'idle');
  assert.equal(await page.getByText('I am the demo agent').count(), 0);
  await page.leave();
});

test('a prompt that waits is sent now: the running turn ends, the others keep their order', async () => {
  const { page, id } = await queued(['hello', 'usage']);
  await row(page, 'usage').getByRole('button', { name: 'Send now: usage' }).press('Enter');
  await page.getByText('Counting what this cost').waitFor();
  await page.getByText('I am the demo agent').waitFor();
  await until('it is at rest', async () => (await state(id)) === 'idle');
  const { text } = await site.get(`/api/sessions/${id}/trace`);
  assert.ok(text.indexOf('Counting what this cost') < text.indexOf('I am the demo agent'), 'it ran before the one that came earlier');
  await page.leave();
});

test('prompts of another person are listed with their name, and have no buttons', async () => {
  const { page, id } = await working();
  const theirs = await prompt(id, 'hello from bob', BOB);
  await row(page, 'hello from bob').waitFor();
  assert.match(await row(page, 'hello from bob').innerText(), /bob/);
  assert.equal(await row(page, 'hello from bob').getByRole('button').count(), 0);
  await page.say('usage');
  await until('both wait', async () => (await rows(page)).join() === 'hello from bob,usage');
  assert.match(await row(page, 'usage').innerText(), /you/);
  await theirs.body.cancel();
  await page.leave();
});

test('another tab sees the queue, and what happens to it', async () => {
  const { page, id } = await queued(['hello', 'usage']);
  const other = await open(site, `#/s/${id}`);
  await until('it has the queue', async () => (await rows(other)).join() === 'hello,usage');
  await row(page, 'hello').getByRole('button', { name: 'Edit: hello' }).click();
  await page.getByRole('textbox', { name: 'Waiting prompt' }).fill('tool');
  await page.keyboard.press('Enter');
  await until('it has the new text', async () => (await rows(other)).join() === 'tool,usage');
  await row(other, 'usage').getByRole('button', { name: 'Remove: usage' }).click();
  await until('the first has one left', async () => (await rows(page)).join() === 'tool');
  await other.leave();
  await page.leave();
});

test('prompts wait over a reload of their page, and run', async () => {
  const { page, id } = await queued(['hello']);
  await page.reload();
  await row(page, 'hello').waitFor();
  await stop(page).click();
  await goOn(page);
  await page.getByText('I am the demo agent').waitFor();
  await until('it is at rest', async () => (await state(id)) === 'idle');
  await page.leave();
});

test('Stop holds the prompts that wait, until a person continues: a new message runs before them', async () => {
  const { page, id } = await queued(['hello', 'usage']);
  const other = await open(site, `#/s/${id}`);
  await until('the other tab has the queue', async () => (await rows(other)).join() === 'hello,usage');
  await stop(page).click();
  for (const tab of [page, other]) {
    await tab.getByText('2 prompts are held until somebody continues or removes them. A new message runs at once.').waitFor();
    assert.deepEqual(await rows(tab), ['hello', 'usage']);
    await tab.locator('.sessions').getByText('2 prompts held').waitFor();
  }
  assert.equal(await page.getByRole('article', { name: 'You' }).count(), 1, 'they are not among the messages');
  assert.equal((await site.get(`/api/sessions/${id}`)).json.held, 2);
  await accessible(page, 'held prompts');
  await page.say('tool');
  await page.getByText('The file says').waitFor();
  await until('it is at rest', async () => (await state(id)) === 'idle');
  assert.deepEqual(await rows(page), ['hello', 'usage'], 'a message that runs changes nothing about them');
  await goOn(page);
  await page.getByText('I am the demo agent').waitFor();
  await page.getByText('Counting what this cost').waitFor();
  await until('the list is gone everywhere', async () => (await waiting(page).count()) + (await waiting(other).count()) === 0);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Your message');
  await other.leave();
  await page.leave();
});

test('held prompts can be changed and sent one by one', async () => {
  const { page, id } = await queued(['hello', 'usage', 'think']);
  await stop(page).click();
  await onHold(page).waitFor();
  await row(page, 'usage').getByRole('button', { name: 'Edit: usage' }).click();
  await page.getByRole('textbox', { name: 'Waiting prompt' }).fill('tool');
  await page.keyboard.press('Enter');
  await until('the list has the new text', async () => (await rows(page)).join() === 'hello,tool,think');
  await row(page, 'tool').getByRole('button', { name: 'Send now: tool' }).click();
  await page.getByText('The file says').waitFor();
  await row(page, 'think').getByRole('button', { name: 'Remove: think' }).click();
  await page.getByText('One prompt is held until somebody continues or removes it.').waitFor();
  assert.equal(await page.getByText('I am the demo agent').count(), 0);
  await until('it is at rest', async () => (await state(id)) === 'idle');
  await page.leave();
});

for (const signal of ['SIGTERM', 'SIGKILL'])
  test(`prompts that wait outlive a restart of the gateway (${signal}), held`, async () => {
    const { page, id } = await queued(['hello', 'usage']);
    if (signal === 'SIGTERM') {
      await stop(page).click(); // else the end of the gateway holds them
      await onHold(page).waitFor();
    }
    await site.restart(signal);
    await onHold(page).waitFor();
    assert.deepEqual(await rows(page), ['hello', 'usage']);
    const bob = await open({ ...site, token: BOB }, `#/s/${id}`);
    await onHold(bob).waitFor();
    assert.equal(await waiting(bob).getByRole('button', { name: 'Remove' }).count(), 0, 'they are not his');
    await bob.leave();
    await waiting(page).getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await until('the list is gone', async () => (await waiting(page).count()) === 0);
    await until('history says so', async () => JSON.stringify(await site.history(id)).split('was not run').length === 3);
    await page.leave();
  });

for (const [name, script, sees] of [
  ['the plan of the running turn stays in sight', 'plan', page => page.getByRole('region', { name: 'Plan' }).waitFor()],
  ['a turn that waits for an answer says so', 'approve', page => page.getByText('The agent waits for your answer.').waitFor()],
]) {
  test(`while prompts wait, ${name}, also on a page that is opened then`, async () => {
    const id = randomUUID();
    await site.post('/api/sessions', { id, agent: 'patient' });
    const first = await prompt(id, script);
    const second = await prompt(id, 'hello', BOB); // the one who began the turn would end it by a prompt
    await until('a part of the answer is on record', async () => (await site.history(id)).some(m => m.role === 'assistant'));
    const page = await open(site, `#/s/${id}`);
    await row(page, 'hello').waitFor();
    await sees(page);
    assert.equal(await page.getByRole('article', { name: 'The agent' }).count(), 1, 'the answer is there once');
    await page.leave();
    await site.post(`/api/chat/${id}/stop`);
    for (const response of [first, second]) await response.body.cancel();
  });
}

test('a prompt that has begun meanwhile is refused in a sentence', async () => {
  const { page } = await queued(['hello']);
  await page.route('**/queue/*', route =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 409, json: { error: 'The prompt does not wait any more: it runs.', code: 'not_queued' } })
      : route.continue(),
  );
  await row(page, 'hello').getByRole('button', { name: 'Edit: hello' }).click();
  await page.getByRole('textbox', { name: 'Waiting prompt' }).fill('tool');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('The prompt does not wait any more').waitFor();
  await page.leave();
});

test('files wait with their prompt', async () => {
  const { page, id } = await working();
  await page.locator('input[type=file]').setInputFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') }]);
  await page.getByRole('list', { name: 'Goes with this message' }).getByText('a.txt').waitFor();
  await page.say('hello');
  await until('the row says that there is a file', async () => /1\s*files/.test(await row(page, 'hello').innerText()));
  await stop(page).click();
  await goOn(page);
  await page.getByText('I am the demo agent').waitFor();
  assert.deepEqual((await prompts(id))[1], 'a.txt hello');
  await page.leave();
});

test('a message goes into the turn that runs', async () => {
  const { page, id } = await working();
  await field(page).fill('in French, please');
  await page.getByRole('button', { name: 'Send into this turn' }).click();
  await until('it is on record', async () => JSON.stringify(await site.history(id)).includes('in French, please'));
  assert.equal(await field(page).inputValue(), '');
  assert.equal(await waiting(page).count(), 0);
  assert.equal((await prompts(id)).length, 1, 'it is no prompt of its own');
  await field(page).fill('and by key');
  await page.keyboard.press('Control+Enter');
  await until('it is on record, too', async () => JSON.stringify(await site.history(id)).includes('and by key'));
  await page.leave();
});

test('Stop says that it stops, and a second click does no harm', async () => {
  const { page, id } = await queued(['hello']);
  let goes;
  const held = new Promise(resolve => {
    goes = resolve;
  });
  await page.route('**/stop', async route => {
    await held;
    await route.continue();
  });
  await stop(page).click();
  const button = page.getByRole('button', { name: 'Stopping…' });
  for (let i = 0; i < 2; i++) await button.dispatchEvent('click');
  await page.keyboard.press('Escape');
  await accessible(page, 'a turn that is being stopped');
  goes();
  await until('the turn is over', async () => (await state(id)) === 'idle');
  assert.deepEqual(await rows(page), ['hello'], 'the prompt behind it is held');
  await until('the button is gone', async () => (await page.getByRole('button', { name: /^Stop/ }).count()) === 0);
  await page.leave();
});

test('Escape stops the turn, but not while there is a draft', async () => {
  const { page, id } = await working();
  await field(page).fill('a draft');
  const asked = [];
  page.on('request', r => asked.push(new URL(r.url()).pathname));
  await page.keyboard.press('Escape');
  await page.evaluate(() => fetch('/after-the-key')); // a stop would have been asked for before it
  await until('its request was seen', () => asked.includes('/after-the-key'));
  assert.ok(!asked.some(path => path.endsWith('/stop')), asked.join());
  assert.equal(await state(id), 'running');
  assert.equal(await field(page).inputValue(), 'a draft');
  await field(page).fill('');
  await page.keyboard.press('Escape');
  await page.getByText('Stopped.').waitFor();
  await until('it is stopped', async () => (await outcome(id)) === 'canceled');
  await page.leave();
});

test('Stop ends a turn that waits for an answer, also after a reload', async () => {
  for (const reload of [false, true]) {
    const page = await open(site);
    await page.say('approve');
    await page.getByText('The agent waits for your answer.').waitFor();
    if (reload) await page.reload();
    await stop(page).click();
    await page.getByText('Stopped.').waitFor();
    const id = decodeURIComponent(page.url().split('#/s/')[1]);
    await until('it is stopped', async () => (await outcome(id)) === 'canceled');
    await page.leave();
  }
});

test('a stop that does not reach the gateway says so, and can be tried again', async () => {
  const { page, id } = await working();
  await page.route('**/stop', route => route.abort());
  await stop(page).click();
  await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor();
  assert.equal(await state(id), 'running');
  await page.unroute('**/stop');
  await stop(page).click();
  await until('it is stopped', async () => (await outcome(id)) === 'canceled');
  await page.leave();
});

for (const name of Object.keys(VIEWS)) {
  test(`the queue can be used by everybody (${name})`, async () => {
    const { page } = await queued(
      ['a prompt with so many words that it does not fit into one line of the list on a phone, whichever way one holds it', 'usage'],
      VIEWS[name],
    );
    await field(page).fill('a draft');
    await accessible(page, 'two prompts that wait');
    await fits(page);
    await row(page, 'usage').getByRole('button', { name: 'Edit: usage' }).click();
    await fits(page);
    await accessible(page, 'a waiting prompt being changed');
    await page.leave();
  });
}
