// Where the keyboard is, which way a text runs, what covers what, and who is told that a request waits.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { glimpse, open, until, useChromium, useGateway } from './lib/page.mjs';
import { says, show } from './lib/show.mjs';
import { VIEWS } from './lib/views.mjs';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-place-'));
const VERA = 'a-token-of-vera-0123456789';
fs.writeFileSync(path.join(dir, 'vera'), VERA);

useChromium();
after(() => fs.rmSync(dir, { recursive: true, force: true }));
const site = useGateway(
  `auth:\n  tokens: [{name: vera, role: viewer, token_file: ${path.join(dir, 'vera')}}]\nagents:\n  demo:\n    options: {pace: 2ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 20ms}\n`,
);

const button = (page, name) => page.getByRole('button', { name }).first();
const focused = page => page.evaluate(() => document.activeElement?.tagName);
const keeps = async page => {
  await page.evaluate(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))));
  assert.notEqual(await focused(page), 'BODY');
};
const waits = async () => {
  const page = await open(site);
  await page.say('approve');
  await button(page, /^Allow/).waitFor();
  return page;
};

describe('the keyboard keeps a place', () => {
  test('after Regenerate', async () => {
    const page = await open(site);
    await page.say('hello');
    await button(page, 'Regenerate').press('Enter');
    await until('the button is gone, or the answer is there again', async () => (await focused(page)) !== 'BUTTON');
    await keeps(page);
    await page.leave();
  });

  test('after Back in a refusal with a reason', async () => {
    const page = await waits();
    await button(page, 'Deny with a reason').press('Enter');
    await page.getByLabel('Why not?').waitFor();
    await button(page, 'Back').press('Enter');
    await until('the button that led there has it', () =>
      page.evaluate(() => document.activeElement?.textContent === 'Deny with a reason'),
    );
    await page.leave();
  });

  test('after a prompt that waits was changed, and after it was removed', async () => {
    const id = randomUUID();
    await site.post('/api/sessions', { id, agent: 'unhurried' });
    const page = await open(site, `#/s/${id}`);
    await page.say('slow 10000');
    await page.getByText('many streams').waitFor();
    await page.say('hello');
    await button(page, 'Edit: hello').press('Enter');
    await page.getByRole('textbox', { name: 'Waiting prompt' }).fill('tool');
    await page.keyboard.press('Enter');
    await button(page, 'Remove: tool').waitFor();
    await keeps(page);
    await button(page, 'Remove: tool').press('Enter');
    await until('it is gone', async () => (await button(page, 'Remove: tool').count()) === 0);
    await keeps(page);
    await page.leave();
  });

  test('after a comment on a change', async () => {
    const page = await open(site);
    await page.say('review');
    await page.getByRole('article', { name: 'The agent' }).waitFor();
    const id = await until('the session has its address', () => new URL(page.url()).hash.slice('#/s/'.length));
    await until('the turn is over', async () => (await site.get(`/api/sessions/${id}`)).json.state === 'idle');
    await page.goto(`${site.base}/#/s/${id}/review`);
    await button(page, /^Comment on line/).press('Enter');
    await page.keyboard.type('Why?');
    await page.keyboard.press('Enter');
    await button(page, 'Remove the comment').waitFor();
    await keeps(page);
    await page.leave();
  });

  test('after an answer on the page of one request', async () => {
    const page = await waits();
    const id = new URL(page.url()).hash.slice('#/s/'.length);
    const [request] = (await site.get(`/api/sessions/${id}/requests`)).json.requests;
    await page.goto(`${site.base}/#/s/${id}/r/${encodeURIComponent(request.id)}`);
    await button(page, /^Allow/).press('Enter');
    await page.locator('.decided-card').waitFor();
    await keeps(page);
    await page.leave();
  });
});

test('a text that runs from right to left is laid out so, in prompts, answers, lists and titles', async () => {
  const page = await show(site, [
    { id: 'u', role: 'user', parts: [{ type: 'text', text: 'مرحبا README.' }] },
    says('مرحبا README.\n\n- واحد\n- اثنان\n\nHello مرحبا.'),
  ]);
  await page.getByText('اثنان').waitFor();
  const way = selector => page.locator(selector).evaluateAll(all => all.map(el => getComputedStyle(el).direction));
  assert.deepEqual(await way('.prompt'), ['rtl']);
  assert.deepEqual(await way('.markdown > p'), ['rtl', 'ltr']);
  assert.deepEqual(await way('.markdown li'), ['rtl', 'rtl']);
  const field = page.getByRole('textbox', { name: 'Your message' });
  await field.fill('مرحبا');
  assert.equal(await field.evaluate(el => getComputedStyle(el).direction), 'rtl');
  await page.leave();
});

for (const name of Object.keys(VIEWS))
  test(`a sentence that comes and goes covers nothing (${name})`, async () => {
    const page = await open(site, '', VIEWS[name]);
    await page.say('hello');
    await page.getByText('I am the demo agent').waitFor();
    const said = await glimpse(page, '.toast', 'The session is in the archive.');
    await button(page, 'More for this session').click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await said();
    await page.getByRole('textbox', { name: 'Your message' }).fill('a draft');
    const covered = await page.evaluate(() =>
      [...document.querySelectorAll('.app button, .app textarea')]
        .filter(el => el.checkVisibility())
        .map(el => [el, el.getBoundingClientRect()])
        .filter(([, { x, y, width, height }]) => document.elementFromPoint(x + width / 2, y + height / 2)?.closest('.toasts'))
        .map(([el]) => el.getAttribute('aria-label') ?? el.textContent),
    );
    assert.deepEqual(covered, []);
    await page.leave();
  });

test('on a phone the button of the list says that requests wait', async () => {
  const page = await open(site, '', VIEWS['phone, dark']);
  await page.say('approve');
  await page.getByRole('button', { name: /^Show the sessions: .*wait/ }).waitFor();
  assert.ok(await page.locator('.only-narrow .mark').isVisible());
  await page.leave();
});

test('a person who only reads along is not told that a request waits for them', async () => {
  const page = await waits();
  const id = new URL(page.url()).hash.slice('#/s/'.length);
  const vera = await open({ ...site, token: VERA }, `#/s/${id}`);
  await vera.locator('[data-session]').first().waitFor();
  await vera.getByText('waits for an answer').first().waitFor();
  assert.equal(await vera.getByText('waits for you').count(), 0);
  assert.equal(await vera.locator('.count').count(), 0);
  assert.doesNotMatch(await vera.title(), /^\(/);
  await vera.leave();
  await page.leave();
});
