// The downloads of a session, and of one of its turns.
import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { describe, test } from 'node:test';
import { shot } from './lib/clock.mjs';
import { accessible, open, useChromium, useGateway } from './lib/page.mjs';
import { fits, VIEWS } from './lib/views.mjs';

useChromium();
const site = useGateway();

const say = (id, text) =>
  site.post('/api/chat', { id, messages: [{ id: `u-${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }] });
const dialog = page => page.getByRole('dialog', { name: /^Export this/ });
const form = (page, name) => dialog(page).getByRole('radio', { name: new RegExp(`^${name}`) });
const bare = page => dialog(page).getByRole('checkbox', { name: 'Without contents' });
const ask = async page => {
  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menuitem', { name: 'Export…' }).click();
  await dialog(page).waitFor();
};
/** Downloads what is chosen. */
async function download(page) {
  const [file] = await Promise.all([page.waitForEvent('download'), dialog(page).getByRole('button', { name: 'Download' }).click()]);
  await dialog(page).waitFor({ state: 'detached' });
  return { name: file.suggestedFilename(), text: await fs.readFile(await file.path(), 'utf8') };
}

describe('a session', () => {
  test('is exported in each form, with contents and without', async () => {
    await site.post('/api/sessions', { id: 'paper', title: 'Über Papier', agent: 'echo' });
    await say('paper', 'ink and quill');
    const page = await open(site, '#/s/paper');
    for (const [name, file, content] of [
      ['Markdown', 'Über Papier.md', /Über Papier[\s\S]*ink and quill/],
      ['JSON', 'Über Papier.json', /^\[\{"id"[\s\S]*ink and quill/],
      ['Trace', 'paper.jsonl', /^\{"v":1,[\s\S]*ink and quill[\s\S]*"type":"stop"/],
      ['ATIF', 'Über Papier.atif.json', /^\{"schema_version":"ATIF-v1.7"[\s\S]*ink and quill/],
      ['OTLP', 'Über Papier.otlp.jsonl', /^\{"resourceSpans"[\s\S]*ink and quill/],
    ]) {
      await ask(page);
      await form(page, name).check();
      const got = await download(page);
      assert.equal(got.name, file);
      assert.match(got.text, content);
    }
    await ask(page);
    assert.equal(await bare(page).isDisabled(), true, 'of Markdown');
    await form(page, 'ATIF').check();
    await bare(page).check();
    const { text } = await download(page);
    assert.match(text, /"schema_version"/);
    assert.doesNotMatch(text, /quill/);
    await page.leave();
  });

  for (const [view, options] of Object.entries(VIEWS))
    test(`that has no turn says so: ${view}`, async () => {
      const id = `blank-${view.slice(0, 4)}`;
      await site.post('/api/sessions', { id, title: 'Blank' });
      const page = await open(site, `#/s/${id}`, options);
      await page.getByRole('heading', { level: 1, name: 'Blank' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog', { name: 'Command menu' }).getByRole('combobox').fill('otlp');
      await page.getByRole('option', { name: 'Export…' }).click();
      await form(page, 'OTLP').check();
      await accessible(page, 'the export');
      await fits(page);
      await shot(page, `export-${view}`);
      await dialog(page).getByRole('button', { name: 'Download' }).click();
      await dialog(page)
        .getByRole('alert')
        .getByText(/^There is nothing to export: no turn of the session has ended/)
        .waitFor();
      await accessible(page, 'an export that failed');
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      await page.leave();
    });
});

test('a turn is exported alone', async () => {
  await say('turns', 'the first prompt');
  await say('turns', 'the second prompt');
  const page = await open(site, '#/s/turns');
  const first = page.getByRole('article', { name: 'The agent' }).first();
  await first.hover();
  await first.getByRole('button', { name: 'Export this turn' }).click();
  await form(page, 'OTLP').waitFor();
  assert.equal(await dialog(page).getByRole('radio').count(), 2);
  const { text } = await download(page);
  assert.match(text, /the first prompt/);
  assert.doesNotMatch(text, /the second prompt/);
  await page.leave();
});
