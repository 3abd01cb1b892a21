// The page as it comes up: signed in, one prompt, one answer, a reload. And that no test finds what another one has left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessible, open, useChromium, useGateway } from './lib/page.mjs';

useChromium();
const site = useGateway();

for (const colorScheme of ['light', 'dark']) {
  test(`a prompt is answered, and a reload shows the same (${colorScheme})`, async () => {
    const page = await open(site, '', { colorScheme });
    await page.say('hello');
    const answer = page.getByText('I am the demo agent');
    await answer.first().waitFor();
    await accessible(page, 'a short conversation');
    await page.reload();
    await answer.first().waitFor();
    assert.equal(await answer.count(), 1, 'it is shown once');
    await page.leave();
  });
}

test('a page that is passed on from one test to the next has nothing of the first one', async () => {
  const state = page =>
    page.evaluate(async () => ({
      local: localStorage.getItem('left'),
      tab: sessionStorage.getItem('left'),
      online: navigator.onLine,
      clipboard: (await navigator.permissions.query({ name: 'clipboard-read' })).state,
      width: innerWidth,
    }));
  const page = await open(site, '', { viewport: { width: 500, height: 500 } });
  const before = { ...(await state(page)), width: 1280 };
  await page.getByRole('textbox', { name: 'Your message' }).fill('a draft');
  await page.evaluate(() => {
    localStorage.setItem('left', 'here');
    sessionStorage.setItem('left', 'here');
  });
  await page.context().grantPermissions(['clipboard-read']);
  await page.route('**/?token=*', route => route.abort());
  await page.context().newPage();
  await page.context().setOffline(true);
  await page.leave();
  const next = await open(site);
  assert.equal(next, page, 'it is the same page');
  assert.equal(await next.getByRole('textbox', { name: 'Your message' }).inputValue(), '');
  assert.deepEqual(await state(next), before);
  assert.equal(next.context().pages().length, 1);
  await next.leave();
});
