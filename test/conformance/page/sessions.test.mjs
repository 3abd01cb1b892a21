// The list of sessions as a person uses it: what it shows by itself, what is found, and what can be done with a session.
import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { describe, test } from 'node:test';
import { accessible, glimpse, indexed, open, until, useChromium, useGateway } from './lib/page.mjs';

useChromium();
const site = useGateway(
  'agents:\n  demo:\n    options: {pace: 4ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 20ms}\n  echo: {}\n  lost: {adapter: claude, command: /no/such/claude}\n',
);

const list = page => page.getByRole('navigation', { name: 'Sessions' });
const row = (page, title) =>
  list(page)
    .locator('.row')
    .filter({ has: page.locator('.title', { hasText: new RegExp(`^${title}$`) }) });
const opener = (page, title) => row(page, title).locator('.open');
const titles = page => list(page).locator('.row .title').allTextContents();
const make = (id, title, more = {}) => site.post('/api/sessions', { id, title, ...more });
const say = (id, text) =>
  site.post('/api/chat', { id, messages: [{ id: `u-${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }] });
const session = async id => (await site.get(`/api/sessions/${id}`)).json;
async function menu(page, title, item) {
  await row(page, title).hover();
  await row(page, title)
    .getByRole('button', { name: `More for ${title}` })
    .click();
  await page.getByRole('menuitem', { name: item }).click();
}

describe('the list', () => {
  test('shows what a session does, without a request of the page', async () => {
    const asked = [],
      waits = new Set();
    const page = await open(site, '', {
      prepare: async p => {
        p.on('request', r => {
          if (r.url().includes('/assets/')) return;
          asked.push(r.url());
          waits.add(r);
        });
        for (const end of ['requestfinished', 'requestfailed']) p.on(end, r => waits.delete(r));
      },
    });
    await list(page).getByText('No sessions yet.').waitFor();
    await page.getByRole('textbox', { name: 'Your message' }).waitFor();
    await until('all that the page asks for at first is there', () => waits.size === 0);
    asked.length = 0;
    await make('state', 'Busy bee', { agent: 'unhurried' });
    await row(page, 'Busy bee').waitFor();
    const said = say('state', 'slow 10000');
    await row(page, 'Busy bee').getByText('working').waitFor();
    await site.post('/api/chat/state/stop');
    await said;
    await row(page, 'Busy bee').getByText('finished').waitFor();
    await say('state', 'approve');
    await row(page, 'Busy bee').getByText('waits for you').waitFor();
    await until('the title says so', async () => (await page.title()) === '(1) Tributary');
    await accessible(page, 'a list with a session that waits');
    await site.post('/api/chat/state/stop');
    await until('it no longer waits', async () => (await page.title()) === 'Tributary');
    await say('state', 'error');
    await row(page, 'Busy bee').getByText('failed').waitFor();
    assert.deepEqual(asked, []);
    await opener(page, 'Busy bee').click();
    await page.getByRole('heading', { level: 1, name: 'Busy bee' }).waitFor();
    await page.leave();
  });

  test('comes back after a restart of the gateway, and says so meanwhile', async () => {
    const page = await open(site);
    await row(page, 'Busy bee').waitFor();
    const away = await glimpse(page, '.away', 'Trying again');
    await site.restart();
    await away();
    await make('after', 'After the restart');
    await row(page, 'After the restart').waitFor();
    await page.getByText('Trying again').waitFor({ state: 'detached' });
    await site.call('DELETE', '/api/sessions/after');
    await row(page, 'After the restart').waitFor({ state: 'detached' });
    await page.leave();
  });

  test('finds words in titles and in the text, and narrows by agent and by state', async () => {
    await make('river', 'Walk along the river');
    await make('echoes', 'Sounds', { agent: 'echo' });
    await say('echoes', 'heron and kingfisher');
    await indexed(site, 'river along');
    await indexed(site, 'kingfisher');
    const page = await open(site);
    await row(page, 'Sounds').waitFor();
    const field = page.getByRole('searchbox', { name: 'Search the sessions' });
    await field.fill('river along');
    await until('the title is found', async () => (await titles(page)).join() === 'Walk along the river');
    await field.fill('kingfisher');
    await until('the text is found', async () => (await titles(page)).join() === 'Sounds');
    await accessible(page, 'a search');
    await field.fill('no such words');
    await list(page).getByText('No session has all of these words.').waitFor();
    await field.press('Escape');
    await until('all are back', async () => (await titles(page)).length > 2);
    await page.getByRole('button', { name: 'Filter the sessions' }).click();
    await page.getByRole('menuitemradio', { name: 'Failed' }).waitFor();
    await accessible(page, 'the menu of the filter');
    await page.getByRole('menuitemradio', { name: 'echo' }).click();
    await until('one agent', async () => (await titles(page)).join() === 'Sounds');
    await list(page).getByText('With echo').waitFor();
    await list(page).getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('button', { name: 'Filter the sessions' }).click();
    await page.getByRole('menuitemradio', { name: 'Failed' }).click();
    await until('one state', async () => (await titles(page)).join() === 'Busy bee');
    await page.leave();
  });

  test('is one stop of Tab; arrows, Home and End lead through it, and F2 and Delete act', async () => {
    const page = await open(site);
    await row(page, 'Sounds').waitFor();
    const all = await titles(page),
      focused = () => page.evaluate(() => document.activeElement.querySelector('.title')?.textContent);
    assert.equal(await list(page).locator('.open[tabindex="0"]').count(), 1);
    await page.getByRole('button', { name: 'Filter the sessions' }).focus();
    await page.keyboard.press('Tab');
    assert.equal(await focused(), all[0]);
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), all[1]);
    await page.keyboard.press('End');
    assert.equal(await focused(), all.at(-1));
    await page.keyboard.press('Home');
    assert.equal(await focused(), all[0]);
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'Title of the session' }).press('Escape');
    await until('the row has the keyboard again', async () => (await focused()) === all[0]);
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Keep it' }).click();
    await until('the row has the keyboard again', async () => (await focused()) === all[0]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: all[0] }).waitFor();
    await page.leave();
  });
});

describe('a session', () => {
  test('is renamed in place, in the list and in the header', async () => {
    await make('name', 'Old name');
    const page = await open(site, '#/s/name');
    await opener(page, 'Old name').focus();
    await page.keyboard.press('F2');
    const field = page.getByRole('textbox', { name: 'Title of the session' });
    assert.equal(await field.inputValue(), 'Old name');
    await field.fill('Newer name');
    await field.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Newer name' }).waitFor();
    await until('the gateway has the title', async () => (await session('name')).title === 'Newer name');
    await page.getByRole('heading', { level: 1 }).dblclick();
    await field.fill('dropped');
    await field.press('Escape');
    await page.getByRole('heading', { level: 1, name: 'Newer name' }).waitFor();
    await page.getByRole('button', { name: 'More for this session' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await field.fill('Newest name');
    await field.press('Enter');
    await row(page, 'Newest name').waitFor();
    await until('the gateway has the title', async () => (await session('name')).title === 'Newest name');
    await page.leave();
  });

  test('goes to the archive, comes back by Undo, and is found among the archived', async () => {
    await make('shelf', 'For the shelf');
    const page = await open(site);
    await menu(page, 'For the shelf', 'Archive');
    await row(page, 'For the shelf').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click(); // it stays ten seconds
    await row(page, 'For the shelf').waitFor();
    await menu(page, 'For the shelf', 'Archive');
    await row(page, 'For the shelf').waitFor({ state: 'detached' });
    await until('it is archived', async () => (await session('shelf')).archived === true);
    await page.getByRole('button', { name: 'Filter the sessions' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Archived sessions' }).click();
    await row(page, 'For the shelf').waitFor();
    await page.keyboard.press('Escape');
    await menu(page, 'For the shelf', 'Take out of the archive');
    await until('it is out', async () => !(await session('shelf')).archived);
    await page.leave();
  });

  test('is deleted only after a question', async () => {
    await make('brief', 'Short life');
    const page = await open(site, '#/s/brief');
    await menu(page, 'Short life', /^Delete/);
    const dialog = page.getByRole('dialog', { name: 'Delete this session?' });
    await dialog.waitFor();
    await accessible(page, 'the question before a session is deleted');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await session('brief')).title, 'Short life');
    await menu(page, 'Short life', /^Delete/);
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await row(page, 'Short life').waitFor({ state: 'detached' });
    await until('it is deleted', async () => (await site.get('/api/sessions/brief')).status === 404);
    await page.getByRole('heading', { level: 1, name: 'New session' }).waitFor();
    await page.leave();
  });

  test('says what stays of its workspace when it is deleted', async () => {
    await make('rest', 'Work left over');
    const page = await open(site, '#/s/rest');
    const kept =
      'The workspace of the session “rest” has 2 commits that are nowhere else: fetch them from /tmp/spaces/rest, then remove it.';
    await page.route('**/api/sessions/rest', (route, request) =>
      request.method() === 'DELETE' ? route.fulfill({ json: { kept } }) : route.continue(),
    );
    await menu(page, 'Work left over', /^Delete/);
    await page.getByRole('dialog', { name: 'Delete this session?' }).getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'The session is deleted' });
    await dialog.getByText(kept).waitFor();
    await accessible(page, 'what stays of a deleted session');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.leave();
  });

  test('is exported', async () => {
    await make('paper', 'Paper trail', { agent: 'echo' });
    await say('paper', 'ink and quill');
    const page = await open(site);
    await menu(page, 'Paper trail', 'Export…');
    const download = page.getByRole('dialog', { name: 'Export this session' }).getByRole('button', { name: 'Download' });
    const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
    assert.equal(file.suggestedFilename(), 'Paper trail.md');
    assert.match(await fs.readFile(await file.path(), 'utf8'), /Paper trail[\s\S]*ink and quill/);
    await page.leave();
  });

  test('has a link for others', async () => {
    const page = await open(site);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const said = await glimpse(page, '.toast', 'The link is copied.');
    await menu(page, 'Paper trail', 'Copy link');
    await said();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${site.base}/#/s/paper`);
    await page.leave();
  });

  test('begins with the chosen agent, mode and model, which are changed later in the header', async () => {
    await make('offers', 'Tells what it offers');
    await say('offers', 'hello');
    const page = await open(site);
    const choose = async (label, value) => {
      await page.getByRole('combobox', { name: label, exact: true }).click();
      await page.getByRole('option', { name: value }).first().click();
    };
    await page.getByRole('combobox', { name: 'Mode', exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).click();
    await page.getByRole('option', { name: 'echo' }).waitFor();
    assert.match(await page.getByRole('option', { name: /^demo/ }).textContent(), /the default agent/);
    assert.equal(await page.getByRole('option', { name: /^lost/ }).getAttribute('aria-disabled'), 'true');
    await accessible(page, 'the list of agents');
    await page.keyboard.press('Escape');
    await choose('Mode', /^Plan/);
    await choose('Model', /^Demo mini/);
    await page.say('about');
    const id = await until('the session has its address', () => new URL(page.url()).hash.slice('#/s/'.length));
    await page.locator('[role=log][aria-busy=false]').waitFor();
    const made = await session(id);
    assert.deepEqual([made.mode, made.model], ['plan', 'demo-mini']);
    await choose('Mode', /^Auto/);
    await until('the mode is another one', async () => (await session(id)).mode === 'auto');
    await page.getByRole('button', { name: 'New session' }).click();
    await choose('Agent', /^echo/);
    await page.say('hello');
    await page.locator('.top .agent', { hasText: 'echo' }).waitFor();
    await page.leave();
  });

  test('says why its agent has no box, without a mouse', async () => {
    const page = await open(site);
    const agent = { name: 'demo', default: true, available: true, files: true, box: 'off', box_reason: 'the system lends no namespaces' };
    await page.route('**/api/agents', route => route.fulfill({ json: { agents: [agent] } }));
    await page.reload();
    const box = page.getByRole('button', { name: 'without a box' });
    await box.focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('dialog', { name: "The agent's box" });
    await panel.getByText('does not get the box of its setting: the system lends no namespaces.').waitFor();
    await accessible(page, 'why an agent has no box');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.leave();
  });

  test('is reached from the keyboard past the list', async () => {
    const page = await open(site, '#/s/paper');
    await page.getByText('ink and quill').first().waitFor();
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Skip to the conversation' }).press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Conversation');
    await page.leave();
  });

  test('at an address where there is none says so', async () => {
    const page = await open(site, '#/s/there-is-none');
    await page.getByText('There is no session at this address').waitFor();
    await page.leave();
  });
});
