// The people of a session: names that somebody has, and names that nobody has.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits } from './lib/views.mjs';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-people-'));
fs.writeFileSync(path.join(dir, 'bob2'), 'a-token-of-bob-0123456789');

useChromium();
after(() => fs.rmSync(dir, { recursive: true, force: true }));
const site = useGateway(
  `auth:\n  groups: {ops: [bob2]}\n  tokens: [{name: bob2, role: viewer, token_file: ${path.join(dir, 'bob2')}}]\nagents: {demo: {}}\n`,
);

const members = async id => (await site.get(`/api/sessions/${id}`)).json.members ?? {};

/** The dialog of a new session. */
async function people(id) {
  await site.post('/api/sessions', { id, title: 'Shared' });
  const page = await open(site, `#/s/${id}`);
  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menuitem', { name: 'People…' }).click();
  const dialog = page.getByRole('dialog', { name: 'People in this session' }),
    name = dialog.getByRole('textbox', { name: 'Name of a person' });
  await name.waitFor();
  const add = async who => {
    await name.fill(who);
    await name.press('Enter');
  };
  return { page, dialog, name, add };
}

test('a name that nobody has is refused with a sentence, and stays typed', async () => {
  const { page, dialog, name, add } = await people('refused');
  for (const [who, sentence] of [
    ['bob', 'Nobody has the name "bob" here'],
    ['ops', '"ops" is a group: add its people one by one'],
  ]) {
    await add(who);
    await dialog.getByRole('alert').getByText(sentence).waitFor();
    assert.equal(await name.inputValue(), who);
  }
  assert.deepEqual(await members('refused'), {});
  await accessible(page, 'a refused name');
  await fits(page);
  await name.press('End');
  await page.keyboard.press('Control+a');
  await add('bob2');
  await until('bob2 is a member', async () => (await members('refused')).bob2 === 'viewer');
  await until('the field is empty for the next one', async () => (await name.inputValue()) === '');
  assert.equal(await dialog.getByRole('alert').count(), 0);
  await name.fill('half a na');
  await dialog.getByRole('button', { name: 'Remove bob2' }).click();
  await until('bob2 is none', async () => Object.keys(await members('refused')).length === 0);
  assert.equal(await name.inputValue(), 'half a na', 'another change takes nothing that was typed');
  await page.leave();
});

test('a person of whom the gateway has not heard yet is added, and the page says so', async () => {
  const { page, dialog, add } = await people('unmet');
  await page.route('**/members/*', async route => {
    const answer = { members: { ann: 'viewer' }, principal: 'ann', unknown: true }; // as a gateway with a provider answers
    await route.fulfill({ json: answer });
  });
  await add('ann');
  await dialog.getByRole('status').getByText('Nobody has come with the name ann yet').waitFor();
  await dialog.getByRole('button', { name: 'Remove ann' }).waitFor();
  await accessible(page, 'a person who was not met yet');
  await page.leave();
});
