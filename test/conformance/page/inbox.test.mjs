// The inbox and the page of one request: what waits is whole, is answered with one hand, and an answer never gets lost.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits, VIEWS } from './lib/views.mjs';

useChromium();
const site = useGateway();

const requests = async () => (await site.get('/api/requests')).json.requests;
const NUMBER = { both: 2, several: 3 }; // of the requests of a script; the others have one
let count = 0;
/** A session that waits with the requests of a script of the demo; what waits. */
async function waits(script, title = script) {
  const id = `waits-${++count}`;
  await site.post('/api/sessions', { id, title });
  await site.post('/api/chat', { id, messages: [{ id: `u-${id}`, role: 'user', parts: [{ type: 'text', text: script }] }] });
  return until('it waits', async () => {
    const all = (await requests()).filter(r => r.session === id);
    return all.length === (NUMBER[script] ?? 1) && all;
  });
}
afterEach(async () => {
  // each case begins with an empty inbox
  for (const id of new Set((await requests()).map(r => r.session))) await site.post(`/api/chat/${id}/stop`);
  await until('nothing waits', async () => (await requests()).length === 0);
});

const card = (page, request) => page.locator(`[data-request="${request.id}"]`);
const button = (page, request, name) => card(page, request).getByRole('button', { name });
const text = async id => JSON.stringify(await site.history(id));
const says = (id, words) => until(`the agent says ${words}`, async () => (await text(id)).includes(words));

describe('the inbox', () => {
  test('is empty and says so, fills by itself, and has its number in the list and in the title', async () => {
    const page = await open(site, '#/inbox');
    await page.getByText('Nothing waits for you.').waitFor();
    await accessible(page, 'an empty inbox');
    const [one] = await waits('approve', 'Greeting');
    await card(page, one).waitFor();
    await page.getByText('One request waits for an answer.').waitFor();
    await until('the title says so', async () => (await page.title()) === '(1) Inbox · Tributary');
    await page.getByRole('button', { name: /^Inbox\s+waiting: 1/ }).waitFor();
    assert.equal(await card(page, one).getByRole('link', { name: 'Greeting' }).getAttribute('href'), `#/s/${one.session}`);
    await page.leave();
  });

  test('shows the whole command, and each option with how far it reaches', async () => {
    const [one] = await waits('scopes');
    const page = await open(site, '#/inbox');
    const command = card(page, one).locator('.command');
    await command.waitFor();
    assert.equal(await command.textContent(), one.input.command);
    assert.ok(one.options.length === 4 && one.options.every(o => o.scope), JSON.stringify(one.options));
    for (const o of one.options) {
      const option = card(page, one)
        .locator('.ask-option')
        .filter({ hasText: new RegExp(`^${o.name}${o.scope}$`) });
      assert.equal(await option.count(), 1, `${o.name}: ${o.scope}`);
    }
    await button(page, one, /^Always allow/).click();
    await card(page, one)
      .getByText(/^You allowed “/)
      .waitFor();
    await says(one.session, 'always allowed');
    await page.leave();
  });

  test('shows a change as a diff; the input is edited and then allowed', async () => {
    const [one] = await waits('change');
    const page = await open(site, '#/inbox');
    const diff = card(page, one).locator('.change');
    await diff.waitFor();
    assert.ok((await diff.locator('.del').count()) && (await diff.locator('.add').count()), await diff.textContent());
    await button(page, one, 'Edit, then allow').click();
    const field = card(page, one).getByRole('textbox', { name: 'The input, as JSON' });
    await accessible(page, 'an input that is edited');
    await field.fill('{');
    await button(page, one, 'Allow as edited').click();
    await card(page, one).getByText('This is no JSON').waitFor();
    const key = Object.keys(one.input).find(k => /new/.test(k));
    await field.fill(JSON.stringify({ ...one.input, [key]: 'a heron stood in the shallows' }));
    await button(page, one, 'Allow as edited').click();
    await card(page, one).getByText('as you edited it').waitFor();
    await says(one.session, 'a heron stood in the shallows');
    await page.leave();
  });

  test('takes an edited command, and a refusal with a reason', async () => {
    const [one, two] = await waits('both');
    const page = await open(site, '#/inbox');
    await button(page, one, 'Edit, then allow').click();
    await card(page, one).getByRole('textbox', { name: 'The command' }).fill('echo otter');
    await button(page, one, 'Allow as edited').click();
    await card(page, one).getByText('as you edited it').waitFor();
    await button(page, two, 'Deny with a reason').click();
    const why = card(page, two).getByRole('textbox');
    await why.press('Escape');
    await button(page, two, 'Deny with a reason').click();
    assert.ok(await button(page, two, 'Deny').isDisabled(), 'a reason is missing');
    await why.fill('the river is too high');
    await button(page, two, 'Deny').click();
    await card(page, two)
      .getByText(/You denied .* because: the river is too high/)
      .waitFor();
    await says(one.session, 'echo otter');
    await says(one.session, 'the river is too high');
    await page.leave();
  });

  test('takes answers of questions: one choice, several, and any words', async () => {
    const [colour, fish, name] = await waits('several');
    const page = await open(site, '#/inbox');
    await button(page, colour, 'green').click();
    await card(page, colour).getByText('You answered: green').waitFor();
    await button(page, fish, 'trout').click();
    await button(page, fish, 'eel').click();
    assert.equal(await button(page, fish, 'eel').getAttribute('aria-pressed'), 'true');
    await accessible(page, 'questions');
    await button(page, fish, 'Answer').click();
    await card(page, fish).getByText('You answered: trout, eel').waitFor();
    await card(page, name).getByRole('textbox', { name: 'Your answer' }).fill('Silverfin');
    await page.keyboard.press('Enter');
    await card(page, name).getByText('You answered: Silverfin').waitFor();
    await says(colour.session, 'You said: green; trout, eel; Silverfin.');
    await page.leave();
  });

  test('has two sessions at once; the keyboard goes to the next card, and j and k lead through them', async () => {
    const [one] = await waits('approve', 'Upstream'),
      [two] = await waits('ask', 'Downstream');
    const page = await open(site, '#/inbox');
    await card(page, two).waitFor();
    const at = () => page.evaluate(() => document.activeElement?.closest('[data-request]')?.dataset.request ?? '');
    await page.keyboard.press('j');
    assert.equal(await at(), one.id);
    await page.keyboard.press('j');
    assert.equal(await at(), two.id);
    await page.keyboard.press('k');
    assert.equal(await at(), one.id);
    await button(page, one, /^Allow\b/)
      .first()
      .focus();
    await page.keyboard.press('Enter');
    await until('the next card has the keyboard', async () => (await at()) === two.id);
    await page.getByText('One request waits for an answer.').waitFor();
    await card(page, one).getByRole('button', { name: 'Dismiss' }).click();
    await card(page, one).waitFor({ state: 'detached' });
    await card(page, two).getByRole('textbox', { name: 'Your answer' }).fill('jk');
    await page.keyboard.press('j');
    assert.equal(await card(page, two).getByRole('textbox').inputValue(), 'jkj', 'keys are text while one types');
    await page.leave();
  });

  test('says when somebody else has answered', async () => {
    const [one] = await waits('approve');
    const page = await open(site, '#/inbox');
    await card(page, one).waitFor();
    await site.post(`/api/sessions/${one.session}/permissions/${one.id}`, { approved: true });
    await card(page, one).getByText('It waits no longer').waitFor();
    assert.equal(await button(page, one, /^Allow\b/).count(), 0);
    await page.leave();
  });

  test('keeps the card of an answer that is not taken, with what was typed', async () => {
    const [one] = await waits('approve');
    const page = await open(site, '#/inbox');
    await button(page, one, 'Deny with a reason').click();
    await card(page, one).getByRole('textbox').fill('not today');
    await page.route('**/permissions/**', route => route.fulfill({ status: 503, json: { error: 'The gateway is being restarted.' } }));
    await button(page, one, 'Deny').click();
    await card(page, one).getByText('The gateway is being restarted.').waitFor();
    assert.equal(await card(page, one).getByRole('textbox').inputValue(), 'not today');
    await page.unroute('**/permissions/**');
    await button(page, one, 'Deny').click();
    await card(page, one)
      .getByText(/You denied/)
      .waitFor();
    await says(one.session, 'not today');
    await page.leave();
  });
});

describe('the page of one request', () => {
  test('opens by its address, is answered, and says so to those who come later', async () => {
    const [one] = await waits('approve', 'Ferry');
    const address = `#/s/${one.session}/r/${one.id}`;
    const page = await open(site, address),
      other = await open(site, address);
    await card(other, one).waitFor();
    await button(page, one, /^Allow\b/)
      .first()
      .click();
    await card(page, one)
      .getByText(/^You allowed/)
      .waitFor();
    await card(other, one).getByText('It waits no longer').waitFor();
    await says(one.session, 'allowed to run it');
    const traces = [];
    page.on('request', r => {
      if (r.url().includes('/trace')) traces.push(new URL(r.url()).search);
    });
    await page.reload();
    await page.getByText(/has allowed it\.$/).waitFor();
    assert.deepEqual(traces, [`?request=${encodeURIComponent(one.id)}`], 'only the records of the request are read');
    await accessible(page, 'the page of a request that was answered');
    await page.getByRole('link', { name: 'Open the session' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ferry' }).waitFor();
    await page.goto(`${site.base}/#/s/${one.session}/r/none`);
    await page.getByText('There is no such request in this session.').waitFor();
    await page.leave();
    await other.leave();
  });

  test('is answered with one thumb on a phone', async () => {
    const [one] = await waits('scopes');
    const page = await open(site, `#/s/${one.session}/r/${one.id}`, { ...VIEWS['phone, dark'], isMobile: true });
    await card(page, one).waitFor();
    await fits(page);
    for (const name of [/^Allow once/, /^Deny(?! with)/]) {
      const box = await button(page, one, name).first().boundingBox();
      assert.ok(box.height >= 44, `${name} is ${box.height} px high`);
    }
    await button(page, one, /^Allow once/).scrollIntoViewIfNeeded();
    const { y } = await button(page, one, /^Allow once/).boundingBox();
    assert.ok(y > 390, `the answer is ${y} px from the top, out of reach of a thumb`);
    await button(page, one, /^Allow once/).tap();
    await card(page, one)
      .getByText(/^You allowed/)
      .waitFor();
    await page.leave();
  });
});

for (const view of Object.keys(VIEWS)) {
  test(`what waits keeps to its window and to the rules of accessibility (${view})`, async () => {
    const [one] = await waits('scopes');
    await waits('change');
    await waits('ask');
    const page = await open(site, '#/inbox', VIEWS[view]);
    await until('all are there', async () => (await page.locator('[data-request]').count()) === 3);
    await fits(page);
    await accessible(page, 'the inbox');
    await page.goto(`${site.base}/#/s/${one.session}/r/${one.id}`);
    await card(page, one).waitFor();
    await fits(page);
    await accessible(page, 'the page of a request');
    await page.leave();
  });
}
