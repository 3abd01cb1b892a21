// A sign-in with an OpenID provider, which ends in mid-turn: the way there and back loses nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { http, start } from '../lib/server.mjs';
import { BINARY, until } from '../lib/site.mjs';
import { begun, read, shot } from './lib/clock.mjs';
import { atProvider, provider } from './lib/openid.mjs';
import { accessible, open, stored, useChromium } from './lib/page.mjs';
import { overWire } from './lib/wire.mjs';

useChromium();

const AGENTS = 'agents:\n  demo: {}\n  steady: {adapter: demo, options: {pace: 20ms}}\nsessions: {on_disconnect: detach}\n';
const field = page => page.getByRole('textbox', { name: 'Your message' });
const asks = (page, name = 'Sign in again') => page.getByRole('dialog', { name, exact: true });
const note = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') };
const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const draft = page => page.locator('textarea[aria-label="Your message"]').inputValue(); // below a dialog, too

let at, op, server, side;
before(async () => {
  const gateway = {};
  at = await overWire(gateway); // the provider knows the address before the gateway has its own
  op = await provider(`${at.base}/auth/callback`);
  server = await start(BINARY, {
    yaml: `public_url: ${at.base}\nauth:\n  sign_in_lifetime: 12s\n  oidc: {issuer: "${op.issuer}", client_id: native, default_role: collaborator}\n${AGENTS}`,
  });
  gateway.base = `http://${/"listen":"([^"]+)"/.exec(server.said())[1]}`; // it prints its public address
  side = http({ ...server, ...gateway });
});
after(async () => {
  await server?.stop();
  await op?.stop();
});
const signIn = async (page, name) => {
  await asks(page, name).getByRole('button', { name }).click();
  await atProvider(page);
  await page.waitForURL(url => url.href.startsWith(at.base) && !url.href.includes('callback'));
  await field(page).waitFor();
};

test('a sign-in with a provider that ends in mid-turn: the way to the provider and back leads to the same place, with the draft and the rest of the turn', async () => {
  const page = await open(at, '', { signedIn: false });
  await signIn(page, 'Sign in');
  const id = await page.evaluate(async () => {
    const res = await fetch('/api/sessions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tributary-page': localStorage.getItem('tributary-page') },
      body: '{"agent":"steady","title":"Mid-turn"}',
    });
    return (await res.json()).id;
  });
  await page.goto(`${at.base}/#/s/${id}`);
  await heading(page, 'Mid-turn');
  await page.say('clock 900');
  await begun(page);
  await page.locator('input[type=file]').setInputFiles([note]);
  await field(page).fill('half a thought');
  await asks(page).waitFor();
  await accessible(page, 'an ended sign-in with a provider');
  await shot(page, 'oidc-1-asks');
  assert.equal(await draft(page), 'half a thought');
  await signIn(page, 'Sign in again');
  assert.equal(page.url(), `${at.base}/#/s/${id}`);
  await until('the draft is there', async () => (await draft(page)) === 'half a thought');
  await shot(page, 'oidc-2-back');
  await until(
    'the turn is over',
    async () => {
      if (await asks(page).count()) await signIn(page, 'Sign in again'); // a slow machine needs one more sign-in of 12 s
      return (await side.get(`/api/sessions/${id}`)).json.state === 'idle';
    },
    60_000,
  );
  await until('the answer is whole', async () => {
    if (await asks(page).count()) await signIn(page, 'Sign in again');
    return (await read(page)).length === 900;
  });
  assert.equal(new Set(await read(page)).size, 900, 'each word is there once');
  assert.equal(await draft(page), 'half a thought');
  await page.getByRole('list', { name: 'Goes with this message' }).getByText('notes.txt').waitFor();
  await page.leave();
});

test('the way to the provider leads back to the draft of a chat that has no session yet; so does a reload', async () => {
  const page = await open(at, '', { signedIn: false });
  await signIn(page, 'Sign in');
  await field(page).fill('the draft of a new chat');
  await page.locator('input[type=file]').setInputFiles([note]);
  await page.getByRole('list', { name: 'Goes with this message' }).getByText('notes.txt').waitFor();
  await stored(page);
  await page.reload();
  const ended = () => page.getByRole('dialog', { name: /^Sign in/ }).count();
  await until(
    'the draft is there, unless the sign-in has ended by now',
    async () => (await ended()) || ((await page.locator('textarea').count()) > 0 && (await draft(page)) === 'the draft of a new chat'),
  );
  await until('the sign-in has ended', ended);
  await page.reload();
  await signIn(page, 'Sign in');
  await until('the draft is there', async () => (await draft(page)) === 'the draft of a new chat');
  await page.getByRole('list', { name: 'Goes with this message' }).getByText('notes.txt').waitFor();
  await page.leave();
});
