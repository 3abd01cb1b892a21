// Notifications: for those who look elsewhere, once, and with the way to the request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessible, open, until, useChromium, useGateway } from './lib/page.mjs';

useChromium({ whole: true });
const site = useGateway();

/** Records the notifications of a page, and lets a test hide the page. */
const prepare = async page => {
  await page.context().grantPermissions(['notifications']);
  await page.addInitScript(() => {
    globalThis.notes = [];
    const Real = globalThis.Notification;
    globalThis.Notification = class extends Real {
      constructor(title, options) {
        super(title, options);
        globalThis.notes.push({ title, body: options.body, tag: options.tag });
        globalThis.note = this;
      }
    };
    let state = 'visible';
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    globalThis.look = seen => {
      state = seen ? 'visible' : 'hidden';
      document.dispatchEvent(new Event('visibilitychange'));
    };
  });
};
const look = (page, seen) => page.evaluate(s => globalThis.look(s), seen);
/** Hides a page, and waits until no page holds the lock of those that are seen. */
const hide = async page => {
  await look(page, false);
  await until('no page is seen', () =>
    page.evaluate(async () => !(await navigator.locks.query()).held.some(l => l.name === 'tributary-seen')),
  );
};
/** Waits until a page has decided about all that it knows of: whether to tell is a question to the locks, which answer in their order. */
const decided = page =>
  page.evaluate(async () => {
    for (let i = 0; i < 3; i++) {
      await navigator.locks.query();
      await navigator.locks.request('a test', () => new Promise(r => setTimeout(r)));
    }
  });
const notes = page => page.evaluate(() => globalThis.notes);
const listed = (page, title) => page.getByRole('navigation', { name: 'Sessions' }).getByText(title).waitFor();
const say = (id, text) =>
  site.post('/api/chat', { id, messages: [{ id: `u-${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }] });
const make = (id, title, agent = 'demo') => site.post('/api/sessions', { id, title, agent });

test('a tab that is not seen tells of a request, whose notification leads to it, and of the end of a turn', async () => {
  await make('hidden', 'Mill', 'unhurried');
  const page = await open(site, '', { prepare });
  await listed(page, 'Mill');
  await hide(page);
  await say('hidden', 'approve');
  await until('it is told', async () => (await notes(page)).length === 1);
  const [{ title, body, tag }] = await notes(page);
  assert.deepEqual([title, body], ['Mill waits for you', 'Run echo hello']);
  await until('the title says so', async () => (await page.title()) === '(1) Tributary');
  await page.evaluate(() => globalThis.note.onclick());
  assert.equal(new URL(page.url()).hash, `#/s/hidden/r/${tag}`);
  await site.post(`/api/sessions/hidden/permissions/${tag}`, { approved: true });
  await until('the end is told', async () => (await notes(page)).length === 2);
  assert.equal((await notes(page))[1].body, 'The turn is over.');
  await page.leave();
});

test('a turn of an instant is told as well, in a session that is known and in one that is new', async () => {
  await make('instant', 'Rill', 'echo');
  const page = await open(site, '', { prepare });
  await listed(page, 'Rill');
  await hide(page);
  for (const id of ['instant', 'instant', 'unknown']) {
    const told = (await notes(page)).length;
    await site.post('/api/chat?agent=echo', {
      id,
      messages: [{ id: `u-${id}-${told}`, role: 'user', parts: [{ type: 'text', text: 'quick' }] }],
    });
    await until('the end is told', async () => (await notes(page)).length === told + 1);
  }
  assert.deepEqual(
    (await notes(page)).map(n => n.body),
    ['The turn is over.', 'The turn is over.', 'The turn is over.'],
  );
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('finished').first().waitFor();
  await page.leave();
});

test('a tab that is seen tells nothing, and its title has the number of what waits', async () => {
  await make('seen', 'Weir');
  const page = await open(site, '', { prepare });
  await listed(page, 'Weir');
  await say('seen', 'both');
  await until('the title has the number', async () => (await page.title()) === '(2) Tributary');
  await decided(page);
  assert.deepEqual(await notes(page), []);
  await site.post('/api/chat/seen/stop');
  await until('nothing waits', async () => (await page.title()) === 'Tributary');
  await page.leave();
});

test('two tabs tell once, and none tells while one of them is seen', async () => {
  await make('twice', 'Lock');
  const page = await open(site, '', { prepare });
  const other = await page.context().newPage();
  await prepare(other);
  await other.goto(`${site.base}/`);
  await listed(page, 'Lock');
  await listed(other, 'Lock');
  await look(other, false);
  await say('twice', 'approve');
  await until('it waits', async () => (await other.title()).startsWith('(1)'));
  for (const tab of [page, other]) await decided(tab);
  assert.deepEqual([await notes(page), await notes(other)], [[], []], 'one of the two is seen');
  await site.post('/api/chat/twice/stop');
  await until('nothing waits, in both', async () => (await other.title()) === 'Tributary' && (await page.title()) === 'Tributary');
  for (const tab of [page, other])
    await until(
      'both know that the turn is over',
      async () => !/working|waits/.test(await tab.getByRole('navigation', { name: 'Sessions' }).textContent()),
    );
  await hide(page);
  await say('twice', 'ask');
  const all = async () => [...(await notes(page)), ...(await notes(other))];
  await until('one tells', async () => (await all()).length > 0);
  for (const tab of [page, other]) {
    await until('it knows that it waits', async () => (await tab.title()).startsWith('(1)'));
    await decided(tab);
  }
  assert.deepEqual(
    (await all()).map(n => n.title),
    ['Lock waits for you'],
  );
  await site.post('/api/chat/twice/stop');
  await page.leave();
});

test('the inbox turns them off and on, and says when the browser refuses them', async () => {
  await make('off', 'Ford');
  const page = await open(site, '#/inbox', { prepare });
  await page.getByRole('button', { name: 'Turn notifications off' }).click();
  await page.getByRole('button', { name: 'Notify me' }).waitFor();
  await accessible(page, 'the inbox with its switch');
  await listed(page, 'Ford');
  await hide(page);
  await say('off', 'approve');
  await until('it waits', async () => (await site.get('/api/requests')).json.requests.length === 1);
  await decided(page);
  assert.deepEqual(await notes(page), []);
  await look(page, true);
  await listed(page, 'waits for you');
  await decided(page);
  assert.deepEqual(await notes(page), []);
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.getByRole('button', { name: 'Turn notifications off' }).waitFor();
  await site.post('/api/chat/off/stop');
  await page.leave();
  const refused = await open(site, '#/inbox', {
    prepare: p => p.addInitScript(() => Object.defineProperty(Notification, 'permission', { get: () => 'denied' })),
  });
  await refused.getByText('This browser refuses notifications of this page.').waitFor();
  await refused.leave();
});
