// Edit, regenerate and copy of messages, and what the page says when the gateway refuses.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { accessible, open, until, useChromium, useGateway, withoutSockets } from './lib/page.mjs';
import { overWire } from './lib/wire.mjs';
import { fits, VIEWS } from './lib/views.mjs';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-edit-'));
const BOB = 'a-token-of-bob-0123456789';
fs.writeFileSync(path.join(dir, 'bob'), BOB);

useChromium();
after(() => fs.rmSync(dir, { recursive: true, force: true }));
const site = useGateway(
  `auth:\n  tokens: [{name: bob, role: collaborator, token_file: ${path.join(dir, 'bob')}}]\nagents:\n  demo:\n    options: {pace: 2ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 20ms}\n`,
);

const editor = page => page.getByRole('textbox', { name: 'Edit your message' });
const mine = page => page.getByRole('article', { name: 'You' });
const answers = page => page.getByRole('article', { name: 'The agent' });
const button = (message, name) => message.getByRole('button', { name, exact: true });
const texts = async id => (await site.history(id)).map(m => m.parts.flatMap(p => (p.type === 'text' ? [p.text] : [])).join(' '));

/** Sends a prompt without a page, and waits for its end. */
async function say(id, text, { token = site.token, agent = 'demo', files = [] } = {}) {
  const res = await fetch(`${site.base}/api/chat?agent=${agent}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ id, messages: [{ id: randomUUID(), role: 'user', parts: [...files, { type: 'text', text }] }] }),
  });
  assert.equal(res.status, 200, await res.text());
}
/** A page with a session of these prompts. */
async function begun(prompts, { at = site, ...options } = {}) {
  const id = randomUUID();
  for (const prompt of prompts) await say(id, prompt);
  const page = await open(at, `#/s/${id}`, options);
  await until('all is shown', async () => (await answers(page).count()) === prompts.length);
  return { page, id };
}

test('a message is edited in its place by the keyboard alone; it and what came after it are replaced', async () => {
  const { page, id } = await begun(['hello', 'tool', 'usage']);
  await button(mine(page).nth(1), 'Edit').focus();
  await page.keyboard.press('Enter');
  await until('the text stands in an editor', async () => (await editor(page).inputValue()) === 'tool');
  await page.getByText('The 3 messages after this one will be removed.').waitFor();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('remember');
  await page.keyboard.press('Enter');
  await until(
    'the answer to the new text is there',
    async () => (await answers(page).count()) === 2 && (await answers(page).nth(1).innerText()).includes('hello'),
  );
  assert.deepEqual(
    (await texts(id)).filter((_, i) => i % 2 === 0),
    ['hello', 'remember'],
  );
  await page.reload();
  await until(
    'a reload shows the same',
    async () => (await mine(page).count()) === 2 && (await mine(page).nth(1).innerText()).includes('remember'),
  );
  await page.leave();
});

test('Escape leaves a message as it was, and the focus on its button', async () => {
  const { page } = await begun(['hello']);
  await button(mine(page), 'Edit').focus();
  await page.keyboard.press('Enter');
  await editor(page).fill('something else');
  await page.keyboard.press('Escape');
  await mine(page).getByText('hello').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Edit');
  await page.leave();
});

test('an edited message keeps its files', async () => {
  const id = randomUUID();
  await say(id, 'hello', { files: [{ type: 'file', mediaType: 'text/plain', filename: 'notes.txt', url: 'data:text/plain;base64,aGk=' }] });
  const page = await open(site, `#/s/${id}`);
  await button(mine(page), 'Edit').click();
  await editor(page).fill('tool');
  await page.keyboard.press('Enter');
  await page.getByText('The file says').waitFor();
  assert.deepEqual(
    (await site.history(id))[0].parts.map(p => p.filename ?? p.text),
    ['notes.txt', 'tool'],
  );
  await page.leave();
});

test('an answer is regenerated: the old one goes', async () => {
  const { page, id } = await begun(['tool', 'hello']);
  const before = (await site.history(id))[3].id;
  await button(answers(page).nth(1), 'Regenerate').press('Enter');
  await until('another answer is on record', async () => {
    const h = await site.history(id);
    return h.length === 4 && h[3].id !== before;
  });
  await until('it is shown once', async () => (await answers(page).count()) === 2);
  await button(answers(page).nth(0), 'Regenerate').press('Enter');
  await until('the first again: the second is gone', async () => (await site.history(id)).length === 2);
  await until('the page shows that', async () => (await answers(page).count()) === 1 && (await mine(page).count()) === 1);
  await page.leave();
});

test('an edit while the answer is being written ends that answer', async () => {
  const id = randomUUID();
  assert.equal((await site.post('/api/sessions', { id, agent: 'unhurried' })).status, 201);
  const page = await open(site, `#/s/${id}`);
  await page.say('slow');
  await answers(page).getByText('many streams').waitFor();
  const pencil = button(mine(page), 'Edit');
  await pencil.focus();
  await page.keyboard.press('Enter');
  await editor(page).fill('hello');
  await page.keyboard.press('Enter');
  await page.getByText('I am the demo agent').waitFor();
  assert.deepEqual((await texts(id))[0], 'hello');
  assert.equal(await page.getByText('many streams').count(), 0);
  await page.leave();
});

test('a page that is behind gets a sentence in the place of a regenerate, and what it has missed', async () => {
  const id = randomUUID();
  await say(id, 'hello');
  const page = await open(site, `#/s/${id}`, {
    prepare: async p => {
      await withoutSockets(p);
      await p.route('**/events*', route => route.abort());
    },
  });
  await answers(page).waitFor();
  await say(id, 'tool');
  await button(answers(page).first(), 'Regenerate').press('Enter');
  await page.getByRole('alert').getByText('This conversation has gone on elsewhere').waitFor();
  await page.getByText('The file says').waitFor();
  assert.equal((await site.history(id)).length, 4, 'nothing was removed');
  assert.equal(await answers(page).count(), 2);
  await page.leave();
});

test('messages of another person are not removed: the page says so, shows them, and keeps the edited text', async () => {
  const id = randomUUID();
  await say(id, 'hello');
  await say(id, 'tool', { token: BOB });
  const page = await open(site, `#/s/${id}`);
  await until('both turns are shown', async () => (await answers(page).count()) === 2);
  await button(mine(page).first(), 'Edit').press('Enter');
  await editor(page).fill('usage');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /another|other|somebody|bob/i);
  assert.equal(await editor(page).inputValue(), 'usage');
  await until('all messages are there', async () => (await answers(page).count()) === 2);
  assert.equal((await site.history(id)).length, 4);
  await accessible(page, 'a refused edit');
  await page.leave();
});

test('an edit that does not reach the gateway removes nothing from the page', async () => {
  const wire = await overWire(site),
    { page, id } = await begun(['hello', 'tool'], { at: wire });
  await button(mine(page).first(), 'Edit').press('Enter');
  await editor(page).fill('usage');
  wire.cut();
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor();
  assert.equal(await answers(page).count(), 2);
  assert.equal(await editor(page).inputValue(), 'usage');
  wire.mend();
  assert.equal((await site.history(id)).length, 4);
  await page.leave();
});

test('a message is copied as Markdown, with what its tools did', async () => {
  const { page } = await begun(['tool']);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await button(answers(page), 'Copy the message as Markdown').press('Enter');
  const copied = await until('it is in the clipboard', () => page.evaluate(() => navigator.clipboard.readText()));
  assert.match(
    copied,
    /^I will read the file\.\n\n\*\*Read hello\.txt\*\*\n```\n\{\n {2}"path": "hello\.txt"\n\}\n```\n```\nHello from the demo\.\n```\n\nThe file says/,
  );
  await page.leave();
});

for (const [name, view] of Object.entries(VIEWS)) {
  test(`a message that is being edited can be used by everybody (${name})`, async () => {
    const { page } = await begun(['hello', 'tool'], view);
    await button(mine(page).first(), 'Edit').press('Enter');
    await editor(page).fill('a longer text\nof two lines');
    await accessible(page, 'a message being edited');
    await fits(page);
    await page.keyboard.press('Escape');
    await button(answers(page).last(), 'Regenerate').focus();
    await accessible(page, 'the buttons of messages');
    await page.leave();
  });
}
