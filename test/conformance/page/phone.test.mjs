// The frame on a phone: a drawer for the list, a header that fits, and nothing that scrolls sideways.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';
import { fits, VIEWS } from './lib/views.mjs';

useChromium();
const site = useGateway();

const LONG = 'A title that is longer than any telephone is wide, by far';
const PHONE = { ...VIEWS['phone, dark'], isMobile: true };
const drawer = page => page.getByRole('navigation', { name: 'Sessions' });
const show = page => page.getByRole('button', { name: 'Show the sessions' });

test('the drawer opens, leads to a session, and closes in three ways', async () => {
  await site.post('/api/sessions', { id: 'drawer', title: LONG });
  const page = await open(site, '', PHONE);
  assert.equal(await drawer(page).count(), 0, 'a drawer that is shut has no names');
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => page.locator('.scrim').tap({ position: { x: 370, y: 400 } }),
    () => drawer(page).getByRole('button', { name: 'Close the list' }).tap(),
  ]) {
    await show(page).tap();
    await drawer(page).waitFor();
    await fits(page);
    await close();
    await drawer(page)
      .waitFor({ state: 'detached' })
      .catch(() => {});
    await until('the drawer is shut', async () => (await drawer(page).count()) === 0);
  }
  await show(page).tap();
  await accessible(page, 'the drawer');
  await page.locator('[data-session="drawer"]').tap();
  await page.getByRole('heading', { level: 1, name: LONG }).waitFor();
  await until('the drawer is shut', async () => (await drawer(page).count()) === 0);
  await page.leave();
});

test('a session, its menus and its dialogs fit', async () => {
  await site.post('/api/sessions', { id: 'full', title: LONG });
  const page = await open(site, '#/s/full', PHONE);
  await page.say('review');
  await page.getByRole('button', { name: /^Changes/ }).waitFor();
  await fits(page);
  const header = await page.locator('.top').boundingBox();
  assert.ok(header.height <= 110, `the header is ${header.height} px high`);
  for (const button of await page.locator('.top .icon-btn').all()) assert.ok((await button.boundingBox()).width >= 44, 'a thumb hits it');
  await accessible(page, 'a session');
  await page.getByRole('button', { name: 'More for this session' }).tap();
  await page.getByRole('menuitem', { name: 'Copy link' }).waitFor();
  await fits(page);
  await page.getByRole('menuitem', { name: 'People…' }).tap();
  await page.getByRole('dialog', { name: 'People in this session' }).waitFor();
  await fits(page);
  await accessible(page, 'the people');
  await page.getByRole('button', { name: 'Done' }).tap();
  await page.leave();
});
