// The command menu and the keys of the page.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accessible, glimpse, open, until, useChromium, useGateway } from './lib/page.mjs';

useChromium();
const site = useGateway();

const menu = page => page.getByRole('dialog', { name: 'Command menu' });
const option = (page, name) => menu(page).getByRole('option', { name });
const heading = (page, name) => page.getByRole('heading', { level: 1, name });
const make = (id, title, agent = 'demo') => site.post('/api/sessions', { id, title, agent });
const session = async id => (await site.get(`/api/sessions/${id}`)).json;
const say = (id, text) =>
  site.post('/api/chat', { id, messages: [{ id: `u-${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }] });
async function choose(page, words, name) {
  await page.keyboard.press('Control+k');
  await menu(page).getByRole('combobox').fill(words);
  await option(page, name).first().waitFor();
  await until('it is the chosen one', async () => (await option(page, name).first().getAttribute('aria-selected')) === 'true');
  await page.keyboard.press('Enter');
  await menu(page).waitFor({ state: 'detached' });
}
/** The keyboard is nowhere. */
const idle = page => page.evaluate(() => document.activeElement.blur());
/** The keyboard is nowhere: the page had given it to the field before. */
const leaveField = async page => {
  await until('the field has the keyboard', () => page.evaluate(() => document.activeElement.matches('textarea')));
  await idle(page);
};

const stop = page => page.getByRole('button', { name: 'Stop', exact: true });

describe('the command menu', () => {
  test('opens and closes by its key, also while one writes, and gives the keyboard back', async () => {
    const page = await open(site);
    const field = page.getByRole('textbox', { name: 'Your message' });
    await field.fill('a draft');
    await page.keyboard.press('Control+k');
    await menu(page).waitFor();
    await accessible(page, 'the command menu');
    await page.keyboard.press('Control+k');
    await menu(page).waitFor({ state: 'detached' });
    await until('the field has the keyboard', () => field.evaluate(el => el === document.activeElement));
    await page.keyboard.press('Control+k');
    await menu(page).waitFor();
    await page.keyboard.press('Escape');
    await menu(page).waitFor({ state: 'detached' });
    assert.equal(await field.inputValue(), 'a draft');
    await page.leave();
  });

  test('finds sessions by words of their text, and opens them', async () => {
    await make('otter', 'Wildlife', 'echo');
    await say('otter', 'the otter dives');
    const page = await open(site);
    await page.getByRole('textbox', { name: 'Your message' }).waitFor();
    await page.keyboard.press('Control+k');
    await option(page, /^Wildlife/).waitFor();
    await menu(page).getByRole('combobox').fill('otter dives');
    await option(page, /^Wildlife/).click();
    await heading(page, 'Wildlife').waitFor();
    await page.keyboard.press('Control+k');
    await menu(page).getByRole('combobox').fill('zzqx');
    await menu(page).getByText('No session and no command has these words.').waitFor();
    await page.leave();
  });

  test('does what can be done with a session', async () => {
    await make('deeds', 'Deeds', 'unhurried');
    const page = await open(site, '#/s/deeds');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await heading(page, 'Deeds').waitFor();
    const said = await glimpse(page, '.toast', 'The link is copied.');
    await choose(page, 'copy', 'Copy link');
    await said();
    await choose(page, 'rename', 'Rename');
    const title = page.getByRole('textbox', { name: 'Title of the session' });
    await title.fill('Better deeds');
    await title.press('Enter');
    await heading(page, 'Better deeds').waitFor();
    await choose(page, 'markdown', 'Export…');
    await page.getByRole('dialog', { name: 'Export this session' }).getByRole('button', { name: 'Cancel' }).click();
    await page.say('slow 10000');
    await stop(page).waitFor();
    await choose(page, 'stop', 'Stop the turn');
    await until('it has stopped', async () => (await session('deeds')).state === 'idle');
    await choose(page, 'review', 'Review the changes');
    await until('the review is there', () => new URL(page.url()).hash === '#/s/deeds/review');
    await choose(page, 'archive', 'Archive');
    await until('it is archived', async () => (await session('deeds')).archived === true);
    await heading(page, 'New session').waitFor();
    await page.leave();
  });

  test('leads to a new session with an agent, to the inbox, to a theme and to the sign-out', async () => {
    const page = await open(site, '', { colorScheme: 'light' });
    await page.getByRole('textbox', { name: 'Your message' }).waitFor();
    await choose(page, 'new echo', 'New session with echo');
    await page.getByRole('combobox', { name: 'Agent' }).getByText('echo').waitFor();
    await choose(page, 'inbox', 'Inbox');
    await heading(page, 'Inbox').waitFor();
    await choose(page, 'theme dark', 'Theme: dark');
    await until('the page is dark', async () => (await page.evaluate(() => document.documentElement.dataset.theme)) === 'dark');
    await page.keyboard.press('Control+k');
    assert.match(await option(page, /^New session(?! with)/).textContent(), /n$/, 'the key is shown');
    await page.keyboard.press('Escape');
    await choose(page, 'sign out', 'Sign out');
    await page.getByRole('dialog', { name: 'Sign in' }).waitFor();
    await page.leave();
  });
});

describe('keys', () => {
  test('of one letter lead through the page', async () => {
    await make('lower', 'Lower');
    await make('upper', 'Upper', 'unhurried');
    const page = await open(site, '#/s/upper');
    await heading(page, 'Upper').waitFor();
    await leaveField(page);
    await page.keyboard.press('Shift+J');
    await heading(page, 'Lower').waitFor();
    await leaveField(page);
    await page.keyboard.press('Shift+K');
    await heading(page, 'Upper').waitFor();
    await page.say('slow 10000');
    await stop(page).waitFor();
    await until('the turn runs', async () => (await session('upper')).state === 'running');
    await leaveField(page);
    await until('it has stopped', async () => {
      await page.keyboard.press('Shift+S'); // the key stops what the list shows as running
      return (await session('upper')).state === 'idle';
    });
    await idle(page);
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'Title of the session' }).press('Escape');
    await page.keyboard.press('/');
    await until('the search has the keyboard', () => page.evaluate(() => document.activeElement.id === 'session-search'));
    assert.equal(await page.getByRole('searchbox').inputValue(), '');
    await idle(page);
    await page.keyboard.press('i');
    await heading(page, 'Inbox').waitFor();
    await page.keyboard.press('n');
    await heading(page, 'New session').waitFor();
    await page.leave();
  });

  test('are text while one types', async () => {
    const page = await open(site);
    await page.getByRole('textbox', { name: 'Your message' }).click();
    await page.keyboard.type('in /?JKS');
    assert.equal(await page.getByRole('textbox', { name: 'Your message' }).inputValue(), 'in /?JKS');
    await heading(page, 'New session').waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.leave();
  });

  test('are listed by ?, and can be turned off', async () => {
    const page = await open(site);
    await leaveField(page);
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('Next session').waitFor();
    await accessible(page, 'the keys');
    await keys.getByRole('checkbox').click();
    await keys.getByRole('button', { name: 'Done' }).click();
    await keys.waitFor({ state: 'detached' });
    await idle(page);
    await page.keyboard.press('i');
    await heading(page, 'New session').waitFor();
    await page.leave();
  });
});
