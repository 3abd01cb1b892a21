// Uses the gateway's own page, web/src, as a person does: types, presses buttons, reloads; against the real gateway.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { build } from 'esbuild';
import { createElement } from 'react';
import { drop, openWindow, requests, visit } from './lib/browser.mjs';
import { http, start } from './lib/server.mjs';
import { BINARY, sleep, until } from './lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const SOURCES = path.join(HERE, '../web/src');
const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.page-use-'));
const closeWindow = openWindow();
// The page uses more of a browser than the clients do. What Node has itself stays Node's.
for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent', 'matchMedia', 'history', 'location', 'localStorage', 'sessionStorage', 'HashChangeEvent', 'getComputedStyle']) {
  Object.defineProperty(globalThis, name, { configurable: true, value: typeof window[name] === 'function' && /^[a-z]/.test(name) ? window[name].bind(window) : window[name] });
}
const outfile = path.join(built, 'app.mjs');
await build({
  stdin: { contents: `export { App } from './app';`, resolveDir: SOURCES, loader: 'tsx' }, outfile, bundle: true, format: 'esm', jsx: 'automatic', logLevel: 'silent',
  plugins: [{ name: 'one react', setup: b => b.onResolve({ filter: /^react/ }, ({ path: name }) => ({ path: name, external: true })) }],
});
const { createRoot } = await import('react-dom/client'); // which looks for a document when it is loaded
const { App } = await import(outfile);

const YAML = 'agents:\n  demo:\n    options: {pace: 4ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 20ms}\n  echo: {}\n  lost: {adapter: claude, command: /no/such/claude}\n';
let server, call;
const shown = new Set();
before(async () => {
  server = await start(BINARY, { yaml: YAML });
  ({ call } = http(server));
  await visit(server.base, server.token);
  window.happyDOM.setURL(`${server.base}/`);
});
afterEach(() => { for (const page of shown) page.leave(); });
after(async () => {
  await server.stop();
  fs.rmSync(built, { recursive: true, force: true });
  await closeWindow();
});

/** The page at a session, or at a new chat: what a person sees of it, and what they do. */
function open(id = null) {
  history.replaceState(null, '', id === null ? '/' : `/#/s/${encodeURIComponent(id)}`);
  const place = document.body.appendChild(document.createElement('div')), root = createRoot(place);
  root.render(createElement(App));
  const all = of => [...place.querySelectorAll(of)];
  const main = () => place.querySelector('main');
  const page = {
    all, main,
    texts: of => all(of).map(e => e.textContent),
    count: name => all('button').filter(b => b.textContent === name && !b.disabled).length,
    shows: (words, of = 'main') => until(`${of} shows ${JSON.stringify(words)}; it shows ${JSON.stringify(place.querySelector(of)?.textContent.slice(-600))}`, () => place.querySelector(of)?.textContent.includes(words)),
    async press(name) {
      const button = await until(`there is a button ${name}; the page shows ${JSON.stringify(place.textContent.slice(-600))}`, () => all('button').find(b => b.textContent === name && !b.disabled));
      button.focus();
      button.click();
    },
    field: () => until('there is a field for text', () => place.querySelector('textarea')),
    async type(text) {
      const field = await page.field();
      Object.getOwnPropertyDescriptor(window.HTMLTextAreaElement.prototype, 'value').set.call(field, text);
      field.dispatchEvent(new window.Event('input', { bubbles: true }));
      await sleep(20);
    },
    async say(text) {
      await page.type(text);
      place.querySelector('form.composer').dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
    },
    get id() { return decodeURIComponent(location.hash.slice('#/s/'.length)); },
    /** The page is gone, without a word. */
    leave() {
      if (!shown.delete(page)) return;
      drop(page.id);
      root.unmount();
      place.remove();
    },
    reload() {
      const { id } = page;
      page.leave();
      return open(id);
    },
  };
  shown.add(page);
  return page;
}
const outcome = async id => (await call('GET', `/api/sessions/${id}`)).json.outcome;
/** The response has ended, and a person is asked. */
const asked = page => page.shows('The agent waits for your answer.');

describe('what is asked', () => {
  test('an answered question and an answered permission have no buttons while another permission waits, also after a reload', async () => {
    const page = open();
    await page.say('mixed');
    await asked(page);
    await page.press('red');
    await until('the question is answered, and both permissions are asked', () => page.texts('.answered').length === 1 && page.count('Allow') === 2);
    assert.equal(page.count('red'), 0);
    await page.press('Allow');
    await until('one permission is left', () => page.count('Allow') === 1);
    assert.equal(page.texts('[role=alert]').join(), '');
    const again = page.reload();
    await asked(again);
    assert.deepEqual([again.count('red'), again.count('Allow')], [0, 1]);
    await again.press('Allow');
    await again.shows('You chose red.');
  });

  test('an answered question has no choices while another one waits', async () => {
    const page = open();
    await page.say('several');
    await asked(page);
    await page.press('green');
    await until('its choices are gone', () => page.texts('.answered').length === 1);
    assert.equal(page.count('green'), 0);
    const again = page.reload();
    await asked(again);
    assert.equal(again.count('green'), 0);
  });

  test('two permissions at the same time are two cards, with the command and nothing of the protocol', async () => {
    const page = open();
    await page.say('both');
    for (const command of ['one', 'two']) {
      await page.shows(`May the agent do this? Run echo ${command}`);
      assert.ok(!page.texts('.state').includes('running'), page.texts('.state').join());
      assert.ok(!page.main().textContent.includes('request_id'), page.main().textContent);
      await page.press('Allow');
    }
    await until('the turn is over', async () => await outcome(page.id) === 'completed');
    await until('both are done', () => page.texts('.state').join() === 'done,done');
  });

  test('a turn that waits is stopped by its button, and the field says what a message would do', async () => {
    const page = open();
    await page.say('approve');
    await asked(page);
    assert.equal((await page.field()).placeholder, 'Answer here, or send something else to end the turn');
    await page.press('Stop');
    await page.shows('Stopped.');
    assert.equal(await outcome(page.id), 'canceled');
  });

  test('a withdrawn permission does not read as a refusal of the user', async () => {
    const page = open();
    await page.say('withdraw');
    await until('a person is asked', () => page.count('Allow') === 1);
    await until('it is withdrawn', () => page.count('Allow') === 0);
    await page.shows('the request was withdrawn');
    assert.ok(!page.texts('.state').includes('denied'), page.texts('.state'));
  });
});

describe('the keyboard', () => {
  for (const [prompt, button, then] of [['approve', 'Allow', 'I was allowed to run it'], ['ask', 'green', 'You chose green.'], ['approve', 'Stop', 'Stopped.']]) {
    test(`keeps its place when ${button} goes`, async () => {
      const page = open();
      await page.say(prompt);
      await asked(page);
      await page.press(button);
      await page.shows(then);
      await until('something of the page has the focus', () => page.main().contains(document.activeElement));
    });
  }

  test('Escape leaves a draft alone, and stops the turn where there is none', async () => {
    const page = open();
    await page.say('slow');
    const escape = async () => (await page.field()).dispatchEvent(new window.KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    await page.shows('Stop');
    await page.type('a draft');
    await escape();
    await sleep(200);
    assert.equal((await call('GET', `/api/sessions/${page.id}`)).json.state, 'running');
    assert.equal((await page.field()).value, 'a draft');
    await page.type('');
    await escape();
    await page.shows('Stopped.');
  });

  test('leads past the list of sessions', async () => {
    const page = open();
    await page.field();
    await page.press('Skip to the conversation');
    assert.equal(document.activeElement.getAttribute('role'), 'region');
    assert.equal(document.activeElement.getAttribute('aria-label'), 'Conversation');
    assert.equal(page.all('button')[0].textContent, 'Skip to the conversation');
  });
});

describe('what was typed', () => {
  test('comes back when the gateway cannot be reached, and the page says so until it is back', async () => {
    const page = open();
    await page.say('hello');
    await until('the turn is over', async () => page.id && await outcome(page.id) === 'completed');
    await until('it is shown', () => page.all('article').length === 2);
    const real = globalThis.fetch;
    globalThis.fetch = async () => { throw new TypeError('Failed to fetch'); };
    try {
      await page.say('not sent');
      await page.shows('The gateway cannot be reached.');
      assert.equal((await page.field()).value, 'not sent');
      assert.equal(page.all('article').length, 2);
    } finally {
      globalThis.fetch = real;
    }
    await until('the sentence goes', () => page.all('.banner').length === 0);
    assert.equal((await page.field()).value, 'not sent');
    await page.say('remember');
    await until('the next turn is over', () => page.all('article').length === 4);
    assert.equal((await page.field()).value, '');
  });

  test('comes back when the gateway refuses it', async () => {
    const id = randomUUID();
    await call('POST', '/api/sessions', { id, agent: 'lost' });
    await call('DELETE', `/api/sessions/${id}`);
    const page = open();
    const real = globalThis.fetch;
    globalThis.fetch = (input, init) => (init?.method === 'POST' ? Promise.resolve(new Response('The gateway is shutting down: try again in a moment.', { status: 503 })) : real(input, init));
    try {
      await page.say('not taken');
      await page.shows('The gateway is shutting down: try again in a moment.');
      assert.equal((await page.field()).value, 'not taken');
    } finally {
      globalThis.fetch = real;
    }
  });

  test('stays with its session while another one is shown', async () => {
    for (const id of ['one', 'two']) await call('POST', '/api/sessions', { id, title: `Session ${id}` });
    const page = open('one');
    await page.type('for one');
    const go = async title => (await until(`the list has ${title}`, () => page.all('.open').find(b => b.textContent.includes(title)))).click();
    await go('Session two');
    await until('the other is shown', async () => page.all('h1')[0].textContent === 'Session two' && (await page.field()).value === '');
    await page.press('New chat');
    await until('a new chat is shown', () => page.all('h1')[0].textContent === 'New chat');
    await page.type('for a new one');
    await go('Session one');
    await until('the draft is there', async () => (await page.field()).value === 'for one');
    await page.press('New chat');
    await until('so is that of the new chat', async () => (await page.field()).value === 'for a new one');
    await page.type('');
  });
});

describe('an address', () => {
  test('of a session that is not among the newest hundred shows its title and its agent', async () => {
    await call('POST', '/api/sessions', { id: 'old', title: 'An old one', agent: 'echo' });
    await sleep(5);
    for (let i = 0; i < 101; i++) await call('POST', '/api/sessions', { id: `newer-${i}` });
    const page = open('old');
    await until('the title is shown', () => page.texts('h1').join() === 'An old one');
    assert.equal(page.texts('.agent').join(), 'echo');
    assert.equal(page.all('.top select').length, 0);
    await page.say('hello');
    await until('the turn is over', async () => await outcome('old') === 'completed');
    assert.deepEqual(requests('old').filter(r => r.method === 'POST' && r.path.startsWith('/api/chat')).map(r => r.status), [200]);
  });

  test('of no session says so', async () => {
    const page = open('there-is-none');
    await page.shows('There is no session at this address');
  });
});

test('the list of agents says which one is the default and which cannot start', async () => {
  const page = open();
  const options = await until('there is a list', () => page.all('option').length && page.texts('option'));
  assert.deepEqual(options.sort(), ['demo (default)', 'echo', 'lost (cannot start)', 'unhurried']);
});

test('a browser that is not signed in is told how, in the place of the chat', async () => {
  await visit(server.base, null);
  try {
    const page = open();
    await page.shows('A token is needed: open the URL that was printed at start');
    assert.equal(page.all('textarea').length, 0);
  } finally {
    await visit(server.base, server.token);
  }
});

/** How much two colours of the form #rrggbb differ, as WCAG 2 counts it. */
function contrast(...colours) {
  const [light, dark] = colours.map(c => {
    const [r, g, b] = [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16) / 255).map(v => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test('text can be read: each colour of text on each ground, light and dark', () => {
  const themes = [...fs.readFileSync(path.join(SOURCES, 'style.css'), 'utf8').matchAll(/:root \{([^}]*)\}/g)].map(([, rules]) => Object.fromEntries([...rules.matchAll(/--([\w-]+): (#\w{6})/g)].map(m => [m[1], m[2]])));
  assert.equal(themes.length, 2);
  for (const theme of themes) {
    const pairs = [['accent-ink', 'accent'], ...['ink', 'soft', 'faint', 'accent', 'ok', 'bad', 'ask'].flatMap(text => ['ground', 'panel', 'raised', 'accent-wash', 'bad-wash', 'ask-wash'].map(ground => [text, ground]))];
    for (const [text, ground] of pairs) assert.ok(contrast(theme[text], theme[ground]) >= 4.5, `${text} on ${ground}: ${contrast(theme[text], theme[ground]).toFixed(2)}`);
  }
});
