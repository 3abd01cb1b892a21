// The review: all that an agent has changed, with comments that go with the next prompt.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits, VIEWS } from './lib/views.mjs';

useChromium();
const site = useGateway('agents:\n  demo:\n    options: {pace: 1ms}\n');

const pane = page => page.getByRole('region', { name: 'Changes', exact: true });
const file = (page, path) => pane(page).locator(`[data-path="${path}"]`);
const line = (page, path, n) =>
  file(page, path)
    .getByRole('button', { name: `Comment on line ${n}`, exact: true })
    .first();
const field = page => page.getByRole('textbox', { name: 'Your message' });

/** Sends a prompt without a page. */
const say = async (id, text) =>
  assert.equal(
    (await site.post('/api/chat', { id, messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }] })).status,
    200,
  );

/** A page whose agent has changed eight files, and one of them twice. */
async function changed(options) {
  const id = randomUUID();
  await say(id, 'review');
  await say(id, 'edit');
  return open(site, `#/s/${id}`, options);
}
async function reviewed(options) {
  const page = await changed(options);
  await page.getByRole('button', { name: 'Changes (8)' }).click();
  await file(page, 'src/river.go').waitFor();
  return page;
}

test('the files stand in a tree with what became of them and how many lines came and went', async () => {
  const page = await reviewed();
  const rows = await page.getByRole('navigation', { name: 'Changed files' }).getByRole('button').allInnerTexts();
  const said = rows.map(r => r.replace(/\s+/g, ' '));
  for (const want of [
    'A created logo.png',
    'M modified table.txt +1 lines added −1 lines removed',
    'R moved rivers.md',
    'D deleted flood.go −4 lines removed',
    'M modified river.go +8',
    'docs/guides',
  ]) {
    assert.ok(
      said.some(r => r.startsWith(want)),
      `${want} is in ${JSON.stringify(said)}`,
    );
  }
  assert.match(await file(page, 'docs/guides/rivers.md').innerText(), /docs\/guide\.md → docs\/guides\/rivers\.md/);
  assert.match(await file(page, 'assets/logo.png').innerText(), /The agent gave no difference of this file/);
  assert.match(page.url(), /\/review$/);
  await page.leave();
});

test('several changes of a file stand below each other, each with its turn; a turn can be looked at alone', async () => {
  const page = await reviewed();
  const river = file(page, 'src/river.go');
  await river.getByText('Change 1 of 2, after “review”.').waitFor();
  await river.getByText('Change 2 of 2, after “edit”.').waitFor();
  await page.getByRole('combobox', { name: 'Which changes' }).selectOption({ label: 'After “edit”' });
  await until('one file is left', async () => (await pane(page).locator('[data-path]').count()) === 1);
  assert.match(await file(page, 'src/river.go').innerText(), /\+4/);
  await page.leave();
});

test('the address of the review survives a reload, and Escape leads back to the conversation', async () => {
  const page = await reviewed();
  await page.reload();
  await file(page, 'src/river.go').waitFor();
  await page.keyboard.press('Escape');
  await until('the conversation is back', async () => !page.url().endsWith('/review') && (await pane(page).count()) === 0);
  await until('the button has the focus', () => page.evaluate(() => document.activeElement.textContent.includes('(8)')));
  await page.leave();
});

test('keys go from file to file, mark one as viewed, fold it, and change the columns', async () => {
  const page = await reviewed();
  const focused = () => page.evaluate(() => document.activeElement.closest('[data-path]')?.dataset.path);
  const at = path => until(`the keyboard is at ${path}`, async () => (await focused()) === path);
  await until('the page listens to keys', async () => {
    if (!(await focused())) await page.keyboard.press('n');
    return focused();
  });
  await at('assets/logo.png');
  await page.keyboard.press('j');
  await at('data/table.txt');
  await page.keyboard.press('p');
  await at('assets/logo.png');
  await page.keyboard.press('n');
  await page.keyboard.press('x');
  await until('it is folded', async () => (await file(page, 'data/table.txt').getByRole('table').count()) === 0);
  await page.keyboard.press('x');
  await page.keyboard.press('v');
  await page.getByText('1 of 8 viewed').waitFor();
  await page.keyboard.press('s');
  await until('there are two columns', async () => (await file(page, 'src/season.go').locator('table.split').count()) === 1);
  await fits(page);
  await page.reload();
  await page.getByText('1 of 8 viewed').waitFor();
  await page.getByRole('button', { name: 'Collapse all files' }).click();
  await until('all are folded', async () => (await pane(page).getByRole('table').count()) === 0);
  await page.getByRole('button', { name: 'Expand all files' }).click();
  await file(page, 'src/season.go').getByRole('table').waitFor();
  await page.leave();
});

test('a mark of a viewed file ends with the next change of the file', async () => {
  const page = await changed();
  await page.getByRole('button', { name: 'Changes (8)' }).click();
  await file(page, 'src/river.go').getByRole('checkbox', { name: 'Viewed' }).check();
  await page.getByText('1 of 8 viewed').waitFor();
  await page.say('edit');
  await file(page, 'src/river.go').getByText('Change 3 of 3').waitFor();
  await page.getByText('0 of 8 viewed').waitFor();
  await page.leave();
});

test('a comment on a range of lines waits in the composer over a reload, and goes with the next prompt', async () => {
  const page = await reviewed();
  await line(page, 'src/season.go', 5).click();
  await line(page, 'src/season.go', 7).click();
  await page.getByRole('textbox', { name: 'Comment on lines 5 to 7' }).fill('Is June spring?');
  await page.keyboard.press('Enter');
  await line(page, 'README.md', 3).click();
  await page.getByRole('textbox', { name: 'Comment on line 3' }).fill('not this');
  await page.keyboard.press('Enter');
  const chips = page.getByRole('list', { name: 'Goes with this message' });
  await chips.getByText('src/season.go:5-7').waitFor();
  await page.reload();
  await chips.getByText('Is June spring?').waitFor();
  await chips.getByRole('button', { name: /Remove the comment on README.md:3/ }).press('Delete');
  await until('one comment is left', async () => (await chips.getByRole('listitem').count()) === 1);
  await field(page).fill('hello, please explain');
  await page.keyboard.press('Enter');
  await until('they are sent', async () => (await chips.count()) === 0);
  const id = decodeURIComponent(page.url().split('#/s/')[1].split('/')[0]);
  const prompt = await until('the prompt is on record', async () =>
    (await site.history(id)).findLast(m => m.role === 'user' && m.parts[0].text.includes('hello, please')),
  );
  assert.equal(
    prompt.parts[0].text,
    '`src/season.go:5-7`\n```\n// spring reports whether the snow melts.\nfunc (r River) spring() bool {\n\treturn time.Now().Month() < time.June\n```\nIs June spring?\n\nhello, please explain',
  );
  await page.leave();
});

test('a review that comes late takes the focus from nobody', async () => {
  const page = await reviewed();
  await line(page, 'README.md', 3).click();
  await page.getByRole('textbox', { name: 'Comment on line 3' }).fill('why?');
  await page.keyboard.press('Enter');
  let late;
  await page.route('**/assets/review-*.js', async route => {
    await new Promise(resolve => {
      late = resolve;
    });
    await route.continue();
  });
  await page.reload();
  const remove = page.getByRole('button', { name: 'Remove the comment on README.md:3' });
  await remove.focus();
  await until('the review is asked for', () => late);
  late();
  await file(page, 'README.md').waitFor();
  await page.keyboard.press('Delete');
  await remove.waitFor({ state: 'detached' });
  await page.leave();
});

test('turns that the page has not read are said to be missing, and can be loaded', async () => {
  const id = randomUUID();
  await say(id, 'edit');
  for (let i = 0; i < 101; i++) await say(id, 'context');
  const page = await open(site, `#/s/${id}/review`);
  await page.getByText('Changes of earlier turns are not here yet.').waitFor();
  await page.getByRole('button', { name: 'Load earlier turns' }).click();
  await file(page, 'src/river.go').waitFor();
  assert.equal(await page.getByText('Changes of earlier turns are not here yet.').count(), 0);
  await page.leave();
});

for (const name of Object.keys(VIEWS)) {
  test(`a comment can be written by everybody (${name})`, async () => {
    const page = await reviewed(VIEWS[name]);
    await line(page, 'src/river.go', 11).click();
    await page.getByRole('textbox', { name: 'Comment on line 11' }).fill('why?');
    await accessible(page, 'a comment being written');
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Goes with this message' }).waitFor();
    await accessible(page, 'a comment in the composer');
    await fits(page);
    await page.leave();
  });
}
