// A network that takes what the page asks for, and brings nothing back: whatever a person does, the page says so in bounded time.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { open, until, useChromium, useGateway, withoutSockets } from './lib/page.mjs';

useChromium();
const site = useGateway('agents:\n  demo:\n    options: {pace: 2ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 300ms}\n');

const SENTENCE = 'The gateway cannot be reached.';
const button = (page, name) => page.getByRole('button', { name, exact: true });
const menu = async (page, item) => {
  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menuitem', { name: item }).click();
};
const field = page => page.getByRole('textbox', { name: 'Your message' });

/** What a person does. before: a prompt whose turn is over; runs: one whose turn runs, with this agent. silent: the requests that are not answered. */
const DEEDS = {
  'a prompt': { silent: ['POST', /\/api\/chat\?/], act: page => page.say('usage') },
  'an edit': {
    before: 'hello',
    silent: ['POST', /\/api\/chat\?/],
    act: async page => {
      await button(page.getByRole('article', { name: 'You' }), 'Edit').press('Enter');
      await page.getByRole('textbox', { name: 'Edit your message' }).fill('usage');
      await page.keyboard.press('Enter');
    },
  },
  'a regenerate': {
    before: 'hello',
    silent: ['POST', /\/api\/chat\?/],
    act: page => button(page.getByRole('article', { name: 'The agent' }), 'Regenerate').press('Enter'),
  },
  'an answer': {
    before: 'approve',
    silent: ['POST', /\/permissions\//],
    act: page =>
      page
        .getByRole('button', { name: /^Allow/ })
        .first()
        .press('Enter'),
  },
  'a stop': { agent: 'unhurried', runs: 'slow 10000', silent: ['POST', /\/stop/], act: page => button(page, 'Stop').press('Enter') },
  'a prompt for the queue': {
    agent: 'unhurried',
    runs: 'slow 10000',
    silent: ['POST', /\/api\/chat\?/],
    act: page => page.say('usage'),
  },
  'a change of the queue': {
    agent: 'unhurried',
    runs: 'slow 10000',
    silent: ['DELETE', /\/queue\//],
    act: async page => {
      await page.say('usage');
      await page.getByRole('button', { name: 'Remove: usage' }).press('Enter');
    },
  },
  'a new title': {
    before: 'hello',
    silent: ['PATCH', /\/api\/sessions\/[^/]+$/],
    act: async page => {
      await menu(page, 'Rename');
      await page.getByRole('textbox', { name: 'Title of the session' }).fill('Another');
      await page.keyboard.press('Enter');
    },
  },
  'another mode': {
    before: 'hello',
    silent: ['PATCH', /\/api\/sessions\/[^/]+$/],
    act: async page => {
      await page.getByRole('combobox', { name: 'Mode', exact: true }).click();
      await page.getByRole('option', { name: /^Plan/ }).click();
    },
  },
  'a session that is archived': { before: 'hello', silent: ['PATCH', /\/api\/sessions\/[^/]+$/], act: page => menu(page, 'Archive') },
  'a session that is deleted': {
    before: 'hello',
    silent: ['DELETE', /\/api\/sessions\/[^/]+$/],
    act: async page => {
      await menu(page, /^Delete/);
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    },
  },
  'an export': {
    before: 'hello',
    silent: ['GET', /\/api\/.*\/export/],
    act: async page => {
      await menu(page, 'Export…');
      await button(page, 'Download').click();
    },
  },
  'a search': {
    before: 'hello',
    silent: ['GET', /\/api\/sessions\?/],
    act: page => page.getByRole('searchbox', { name: 'Search the sessions' }).fill('hello'),
  },
  'the inbox': { before: 'approve', silent: ['GET', /\/api\/requests$/], act: page => button(page, /^Inbox/).click() },
  'a conversation that is opened': { before: 'hello', silent: ['GET', /\/messages/], act: page => page.reload() },
};

for (const [
  name,
  {
    before,
    agent = 'demo',
    runs,
    silent: [method, address],
    act,
  },
] of Object.entries(DEEDS)) {
  test(`${name}: after a silence the page says that the gateway cannot be reached`, async () => {
    const id = randomUUID();
    assert.equal((await site.post('/api/sessions', { id, agent, title: 'Silent' })).status, 201);
    if (before)
      await site.post('/api/chat', { id, messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: before }] }] });
    const page = await open(site, `#/s/${id}`, {
      prepare: async p => {
        await withoutSockets(p);
        await p.clock.install();
      },
    });
    if (before) await page.getByRole('article', { name: 'The agent' }).waitFor();
    if (runs) {
      await page.say(runs);
      await button(page, 'Stop').waitFor();
    }
    await field(page).waitFor();
    let asked = 0;
    await page.route(address, (route, request) => {
      if (request.method() !== method) return route.fallback();
      asked++; // and nothing comes back
    });
    await act(page);
    await until('the page has asked', () => asked > 0);
    await until('the page says so', async () => {
      await page.clock.fastForward(20_000);
      return (await page.getByText(SENTENCE, { exact: true }).count()) > 0;
    });
    await page.context().close();
  });
}
