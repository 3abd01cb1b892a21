// The sign-in of a JSON Web Token, which ends with it, in mid-turn too. The page asks for the next one, and loses nothing.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { http, start } from '../lib/server.mjs';
import { BINARY, until } from '../lib/site.mjs';
import { begun, read, shot, whole } from './lib/clock.mjs';
import { SECRET, tokenFor } from './lib/host.mjs';
import { accessible, open, useChromium, withoutSockets } from './lib/page.mjs';
import { overWire } from './lib/wire.mjs';

useChromium();

const AGENTS =
  'agents:\n  demo: {options: {pace: 4ms}}\n  steady: {adapter: demo, options: {pace: 20ms}}\nsessions: {on_disconnect: detach}\n';
const field = page => page.getByRole('textbox', { name: 'Your message' });
const asks = (page, name = 'Sign in again') => page.getByRole('dialog', { name, exact: true });
const note = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') };
const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();

/** The rest of the turn is there, and no sentence of the end of the sign-in stays. */
async function wentOn(page, side, id, number) {
  await whole(page, side, id, number);
  assert.equal(await page.getByText(/sign-in has expired|cannot be reached|not signed in/).count(), 0);
}

describe('a JSON Web Token', () => {
  let site;
  before(async () => {
    const yaml = `auth:\n  jwt: {secret_env: PAGE_SECRET, audience: [tributary], default_role: collaborator, leeway: 1ms}\n${AGENTS}`;
    const server = await start(BINARY, { auth: 'jwt', yaml, env: { ...process.env, PAGE_SECRET: SECRET } });
    site = { ...server, as: user => http({ base: server.base, token: tokenFor(user) }) };
  });
  after(() => site?.stop());
  const give = async (page, token) => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Use the token' }).click();
  };
  /** A page with a token for so many seconds, and for more where the machine is slow: page.ends. */
  const visit = async (user, id, seconds, { at = site, prepare } = {}) => {
    await site.as(user).post('/api/sessions', { id, title: `Of ${user}`, agent: 'steady' });
    const began = Date.now(),
      page = await open(at, `#/s/${id}`, { signedIn: false, prepare });
    await asks(page, 'Sign in').waitFor();
    const lives = Math.ceil(seconds + (2 * (Date.now() - began)) / 1000);
    page.ends = Date.now() + lives * 1000;
    /** How many words the clock says until the token has ended, and for some seconds more. */
    page.words = (lives + 4) * 50;
    await give(page, tokenFor(user, lives));
    await heading(page, `Of ${user}`);
    return page;
  };

  test('signs its user in; one that has expired or is none says so', async () => {
    const page = await open(site, '', { signedIn: false });
    await asks(page, 'Sign in').waitFor();
    await give(page, tokenFor('ada', -60));
    await page.getByRole('alert').getByText('The token has expired: get a new one.').waitFor();
    await give(page, `${tokenFor('ada')}x`);
    await page
      .getByRole('alert')
      .getByText(/^The token is not valid here/)
      .waitFor();
    await give(page, 'übel');
    await page.getByRole('alert').getByText('The gateway does not know this token.').waitFor();
    await give(page, tokenFor('ada'));
    await page.locator('.account').getByText('ada').waitFor();
    assert.equal(page.url(), `${site.base}/`, 'the token is in no address');
    await page.reload();
    await page.locator('.account').getByText('ada').waitFor();
    assert.ok(!JSON.stringify(await page.context().storageState()).includes('eyJ'), 'no storage has the token');
    await page.leave();
  });

  test('that ends in mid-turn: the page asks again where it is, and the turn goes on under the draft', async () => {
    const page = await visit('ben', 'jwt', 6);
    await page.say(`clock ${page.words}`);
    await begun(page);
    await page.locator('input[type=file]').setInputFiles([note]);
    await field(page).fill('half a thought');
    await page.evaluate(() => {
      window.here = true;
    });
    await asks(page).waitFor();
    const seen = (await read(page)).length;
    assert.ok(seen > 5, 'what was read stays');
    assert.equal(await page.locator('textarea[aria-label="Your message"]').inputValue(), 'half a thought');
    await accessible(page, 'an ended sign-in over a conversation');
    await shot(page, 'jwt-1-asks');
    await give(page, tokenFor('ben', -5));
    await page.getByRole('alert').getByText('The token has expired: get a new one.').waitFor();
    await give(page, tokenFor('ben'));
    await asks(page).waitFor({ state: 'detached' });
    await until('the answer goes on', async () => (await read(page)).length > seen);
    await shot(page, 'jwt-2-back');
    await wentOn(page, site.as('ben'), 'jwt', page.words);
    assert.equal(await page.evaluate(() => window.here), true, 'the page was not loaded again');
    assert.equal(await field(page).inputValue(), 'half a thought');
    await page.getByRole('list', { name: 'Goes with this message' }).getByText('notes.txt').waitFor();
    await page.leave();
  });

  test('that ends before a prompt goes out: the prompt is a draft again, and goes out after the sign-in', async () => {
    const wire = await overWire(site),
      page = await visit('cleo', 'jwt-prompt', 600, { at: wire, prepare: withoutSockets });
    let tries,
      lose,
      first = true;
    const tried = new Promise(resolve => (tries = resolve)),
      lost = new Promise(resolve => (lose = resolve));
    await page.route('**/api/events?*', async route => {
      if (!first) return route.continue();
      first = false;
      tries();
      await lost;
      await route.abort();
    });
    wire.cut();
    wire.mend();
    await tried; // the list tries again, and hears later than the prompt
    await page.route(
      '**/api/chat?*',
      async route => {
        // the prompt is the first that the gateway refuses
        await page.context().clearCookies();
        const { cookie: _, ...headers } = await route.request().allHeaders(),
          to = route.request();
        const res = await fetch(to.url(), { method: to.method(), headers, body: to.postData() });
        assert.equal(res.status, 401);
        await route.fulfill({ status: res.status, headers: Object.fromEntries(res.headers), body: await res.text() });
      },
      { times: 1 },
    );
    const refusal = of => page.waitForResponse(res => res.status() === 401 && res.url().includes(of)),
      refused = refusal('/api/chat?'),
      last = refusal('/events?after=');
    await page.say('hello');
    await refused; // another request may be the first that asks for the sign-in
    await until(
      'the prompt is a draft again',
      async () => (await page.locator('textarea[aria-label="Your message"]').inputValue()) === 'hello',
    );
    await asks(page).waitFor();
    await last; // each refusal says it again
    const failed = page.waitForEvent('requestfailed', request => request.url().includes('/api/events?'));
    await page.evaluate(() => {
      const look = () => {
        window.tries ||= document.body.textContent.includes('Trying again…');
      };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    lose();
    await failed;
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    assert.ok(!(await page.evaluate(() => window.tries)), 'a network that is lost late changes nothing');
    await give(page, tokenFor('cleo'));
    await asks(page).waitFor({ state: 'detached' });
    await until('no sentence of it stays', async () => (await page.getByRole('alert').count()) === 0);
    await field(page).press('Enter');
    await page.getByText('I am the demo agent').waitFor();
    await page.leave();
  });

  test('that ends while the network is away: the page asks when it is back', async () => {
    const wire = await overWire(site),
      page = await visit('dora', 'jwt-away', 8, { at: wire });
    await page.say('clock 600');
    await begun(page);
    await field(page).fill('half a thought');
    wire.cut();
    await page.getByText('The gateway cannot be reached. Trying again…').waitFor();
    await until('the sign-in has ended', () => Date.now() > page.ends + 500);
    wire.mend();
    await asks(page).waitFor({ timeout: 60_000 });
    assert.equal(await page.getByText('Trying again…').count(), 0, 'the page does not wait for a network');
    await give(page, tokenFor('dora'));
    await asks(page).waitFor({ state: 'detached' });
    await wentOn(page, site.as('dora'), 'jwt-away', 600);
    assert.equal(await field(page).inputValue(), 'half a thought');
    await page.leave();
  });

  test('of another person loads the page anew: nothing of the first one is on it', async () => {
    const page = await visit('eve', 'jwt-other', 600);
    await page.say('hello');
    await page.getByText('I am the demo agent').waitFor();
    await field(page).fill('tool');
    await page.context().clearCookies();
    // Another request of the page may have asked for the sign-in already, in front of the field.
    await page.locator('textarea[aria-label="Your message"]').dispatchEvent('keydown', { key: 'Enter' });
    await asks(page).waitFor();
    await give(page, tokenFor('finn'));
    await page.locator('.account').getByText('finn').waitFor();
    await page.getByText('There is no session at this address.').waitFor();
    assert.equal(await page.getByText('I am the demo agent').count(), 0);
    await page.leave();
  });
});
