// The sign-in: at first, and when it ends while the page is in use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessible, open, scrollUp, until, useChromium, useGateway } from './lib/page.mjs';
import { fits, VIEWS } from './lib/views.mjs';

useChromium();
const site = useGateway();

const asks = (page, name = 'Sign in') => page.getByRole('dialog', { name, exact: true });
const give = async (page, token) => {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Use the token' }).click();
};
const account = async (page, item) => {
  await page.locator('.account button').click();
  await page.getByRole('menuitem', { name: item }).click();
};
const draft = page => page.locator('textarea[aria-label="Your message"]');

test('a browser that is not signed in is asked for a token, and comes to the place that it wanted', async () => {
  await site.post('/api/sessions', { id: 'wanted', title: 'Wanted' });
  const page = await open(site, '#/s/wanted', { signedIn: false });
  await asks(page).waitFor();
  assert.equal(await draft(page).count(), 0, 'nothing can be written yet');
  await page.keyboard.press('Escape');
  await asks(page).waitFor();
  await give(page, 'wrong');
  await page.getByText('The gateway does not know this token.').waitFor();
  assert.equal(new URL(page.url()).hash, '#/s/wanted');
  await give(page, site.token);
  await page.getByRole('heading', { level: 1, name: 'Wanted' }).waitFor();
  assert.equal(page.url(), `${site.base}/#/s/wanted`);
  await page.leave();
});

test('an address with a token opens the place that it names, and keeps no token', async () => {
  await site.post('/api/sessions', { id: 'a place', title: 'A place' });
  const page = await open(site, '', { signedIn: false });
  for (const [query, fragment] of [
    ['', '#/s/a%20place'],
    ['?from=mail&', '#/s/a%20place/review'],
    ['', '#/inbox'],
    ['', ''],
  ]) {
    await page.goto('about:blank');
    await page.goto(`${site.base}/${query || '?'}token=${encodeURIComponent(site.token)}${fragment}`);
    await page.locator('.account').waitFor();
    assert.equal(page.url(), `${site.base}/${query.replace('&', '')}${fragment}`);
    if (fragment.startsWith('#/s')) await page.getByRole('heading', { level: 1, name: 'A place' }).waitFor();
    await page.goBack();
    assert.equal(page.url(), 'about:blank', 'the browser keeps no address with the token');
  }
  await page.goto(`${site.base}/#page=wrong&at=${encodeURIComponent('//elsewhere.example/')}`);
  await page.reload();
  await page.locator('.account').waitFor();
  assert.equal(page.url(), `${site.base}/`, 'only a fragment is a place');
  await page.leave();
});

test('whoever loads the page again while it signs in is signed in', async () => {
  let asked = 0;
  const page = await open(site, '', {
    prepare: page => page.route('**/auth/me', route => asked++ && route.continue()), // the first is never answered
  });
  await until('the page has asked who it is', () => asked === 1);
  await page.reload();
  await draft(page).waitFor();
  assert.equal(page.url(), `${site.base}/`);
  await page.leave();
});

for (const [view, options] of Object.entries(VIEWS)) {
  test(`the sign-in keeps to its window and to the rules of accessibility (${view})`, async () => {
    const page = await open(site, '', { signedIn: false, ...options });
    await asks(page).waitFor();
    await fits(page);
    await accessible(page, 'the sign-in');
    await page.leave();
  });
}

test('a sign-in that ends in mid-turn is a dialog over the page: conversation, draft and place stay, also after the next sign-in', async () => {
  await site.post('/api/sessions', { id: 'mid', title: 'Mid-turn', agent: 'unhurried' });
  const page = await open(site, '#/s/mid', { viewport: { width: 900, height: 500 } });
  await page.say('markdown');
  await page.locator('[role=log][aria-busy=false]').waitFor();
  await until('the turn is over', async () => (await site.get('/api/sessions/mid')).json.state === 'idle');
  await page.say('slow');
  await until('the next turn runs', async () => (await site.get('/api/sessions/mid')).json.state === 'running');
  await draft(page).fill('half a thought');
  const box = page.locator('.scroll');
  const { top } = await scrollUp(page, 200),
    words = await page.locator('.message.user').first().textContent();
  await page.context().clearCookies();
  const other = await open(site);
  await account(other, 'Sign-ins…');
  const ends = other.getByRole('dialog', { name: 'Sign-ins' }).getByRole('button', { name: 'End' });
  await ends.first().waitFor();
  await accessible(other, 'the sign-ins');
  for (let left = await ends.count(); left > 0; left--) {
    // each browser that is signed in, this one, too
    await ends.first().click();
    if (left > 1) await until('one is gone', async () => (await ends.count()) < left);
  }
  await asks(page, 'Sign in again').waitFor();
  await asks(other, 'Sign in again').waitFor();
  assert.equal(await draft(page).inputValue(), 'half a thought');
  assert.equal(await page.locator('.message.user').first().textContent(), words);
  assert.equal(await box.evaluate(el => el.scrollTop), top);
  await accessible(page, 'a sign-in over the page');
  await give(page, site.token);
  await page.getByRole('heading', { level: 1, name: 'Mid-turn' }).waitFor();
  assert.equal(new URL(page.url()).hash, '#/s/mid');
  await until('the draft is there', async () => (await draft(page).inputValue()) === 'half a thought');
  await site.post('/api/chat/mid/stop');
  await page.leave();
  await other.leave();
});

test('a person signs out, and reads that they have not where the gateway did not hear of it', async () => {
  const page = await open(site);
  await page.route('**/auth/sign-out', route => route.abort());
  await account(page, 'Sign out');
  await page.getByText('The gateway cannot be reached, so you are still signed in here. Try again.').first().waitFor();
  await page.unroute('**/auth/sign-out');
  await account(page, 'Sign out');
  await asks(page).waitFor();
  assert.equal(await page.evaluate(async () => (await fetch('/api/sessions')).status), 401);
  await page.leave();
});

test('the theme is chosen in the menu of the person, and stays', async () => {
  const page = await open(site, '', { colorScheme: 'light' });
  await page.locator('.account button').click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor();
  await accessible(page, 'the menu of the person');
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await until('the page is dark', async () => (await ground()) === 'rgb(18, 21, 22)');
  await page.reload();
  await until('the page is dark again', async () => (await ground()) === 'rgb(18, 21, 22)');
  await page.leave();
});
