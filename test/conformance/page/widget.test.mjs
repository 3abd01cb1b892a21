// The widget in pages of another origin, in Chromium: what a host may do to it, and what nobody may.
// evidence: promise-widget
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { after, before, describe, test } from 'node:test';
import { http, start } from '../lib/server.mjs';
import { BINARY, PATIENCE, until } from '../lib/site.mjs';
import { SECRET, tokenFor, useHost } from './lib/host.mjs';
import { accessible, launch, watch } from './lib/page.mjs';
import { VIEWS } from './lib/views.mjs';

const host = useHost(),
  stranger = useHost();
let browser, site;

const YAML = origins => `
widget: {allow_origins: [${origins.map(o => `"${o}"`)}]}
auth:
  jwt: {secret_env: WIDGET_SECRET, audience: [tributary], default_role: collaborator, leeway: 1ms}
  approver: collaborator
agents:
  demo: {options: {pace: 4ms}}
  unhurried: {adapter: demo, options: {pace: 12ms}}
default_agent: demo
`;

before(async () => {
  browser = await launch({ sites: true });
  const server = await start(BINARY, {
    auth: 'jwt',
    yaml: YAML([host.origin, host.sameSite]),
    env: { ...process.env, WIDGET_SECRET: SECRET },
  });
  site = { ...server, as: (user, seconds) => http({ base: server.base, token: tokenFor(user, seconds) }) };
});
after(async () => {
  await browser?.close();
  await site?.stop();
});

/** The script tag that the gateway prints, with attributes if there are any. */
function tag(attributes = '') {
  const printed = execFileSync(BINARY, ['widget', '--url', site.base], { cwd: os.tmpdir(), stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim();
  return printed.replace('<script ', `<script ${attributes} `);
}

/** The policy of a host that allows the gateway's origin for scripts and frames, and no style at all. */
const strict = () =>
  `default-src 'none'; script-src 'self' ${site.base}; frame-src ${site.base}; connect-src 'self'; style-src 'none'; require-trusted-types-for 'script'; base-uri 'none'; frame-ancestors 'none'`;

const INIT = (options = '') =>
  `addEventListener('DOMContentLoaded', () => Tributary.init({ getToken: async () => { const r = await fetch('/token', { method: 'POST' }); return r.ok ? r.text() : null; }, label: 'Ask us', ${options} }));`;

/** A page of the host in a browser of its own. chat: what stands in the frame. said: the console. */
async function visit(address, { context: given, ...options } = {}) {
  const context = given ?? (await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options }));
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  watch(page);
  page.said = [];
  page.on('console', m => page.said.push(m.text()));
  await page.goto(address);
  page.chat = page.frameLocator('tributary-widget iframe');
  page.launcher = page.locator('tributary-widget .launcher');
  page.box = page.chat.getByRole('textbox', { name: 'Your message' });
  page.say = async text => {
    await page.box.fill(text);
    await page.box.press('Enter');
  };
  const close = context.close.bind(context);
  page.leave = async () => {
    await close();
    assert.deepEqual(page.errors, []);
  };
  return page;
}

const answer = page => page.chat.getByText('I am the demo agent').first();
const frameOf = page => page.frames().find(f => f.url().startsWith(site.base));

describe('a chat in a page of another origin', () => {
  test('one tag with attributes: the button opens the chat, the host gives the token, and a reload finds the conversation again', async () => {
    host.token = () => tokenFor('ada');
    const page = await visit(host.serve({ html: tag('data-token-url="/token" data-label="Ask us"') }));
    assert.equal(page.frames().length, 1, 'nothing is loaded before somebody chats');
    await page.getByRole('button', { name: 'Ask us' }).click();
    await page.say('hello');
    await answer(page).waitFor();
    const { sessions } = (await site.as('ada').get('/api/sessions')).json;
    assert.equal(sessions.length, 1, 'the session is of the person whom the token names');
    await page.reload();
    await page.launcher.click();
    await answer(page).waitFor();
    await page.chat.getByRole('button', { name: 'New conversation' }).click();
    await answer(page).waitFor({ state: 'detached' });
    await page.leave();
  });

  test('the two ways of the guide', async () => {
    host.token = () => tokenFor('ann');
    const byAttributes = `<script src="https://agents.example.com/widget.js" data-token-url="/token" data-label="Ask us" data-agent="demo" defer></script>`;
    const byCall = `Tributary.init({
      getToken: async () => {
        const response = await fetch('/token', { method: 'POST' });
        return response.ok ? response.text() : null; // null: nobody is signed in
      },
    });`;
    for (const shown of [
      { html: byAttributes.replace('https://agents.example.com', site.base) },
      { html: tag(), script: `addEventListener('DOMContentLoaded', () => { ${byCall} });` },
    ]) {
      const page = await visit(host.serve(shown));
      await page.launcher.click();
      await page.say('hello');
      await answer(page).waitFor();
      await page.leave();
    }
  });

  test('a token in an attribute is not read', async () => {
    const page = await visit(host.serve({ html: tag(`data-token="${tokenFor('ada')}"`) }));
    await until('the console says so', () => page.said.some(s => s.includes('data-token is not read')));
    await page.launcher.click();
    await page.chat.getByText('Please sign in to use this chat.').waitFor();
    await page.leave();
  });

  test('under the strictest policy, in a host that cannot be framed itself and is isolated', async () => {
    host.token = () => tokenFor('bob');
    const page = await visit(
      host.serve({
        html: tag(),
        script: INIT(),
        policy: strict(),
        headers: { 'cross-origin-embedder-policy': 'require-corp', 'cross-origin-opener-policy': 'same-origin' },
      }),
    );
    await page.launcher.click();
    await page.say('hello');
    await answer(page).waitFor();
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    const box = await page.launcher.boundingBox();
    assert.deepEqual([box.width, box.height], [56, 56], 'the button has its style');
    await page.leave();
  });

  test('hostile styles do not reach it', async () => {
    host.token = () => tokenFor('bob');
    const style = `* { all: unset !important; display: inline !important; position: static !important; width: 3px !important; height: 3px !important; color: red !important; font: 3px serif !important;
      opacity: .1 !important; transform: scale(.2) rotate(9deg) !important; visibility: hidden !important; pointer-events: none !important; z-index: -1 !important; filter: blur(9px) !important; clip-path: inset(49%) !important }
      iframe, button, div, tributary-widget { display: none !important; --accent: red; --radius: 0 }`;
    const page = await visit(host.serve({ html: tag(), script: INIT(), style }));
    const box = await page.launcher.boundingBox();
    assert.deepEqual([Math.round(box.x), Math.round(box.y), box.width, box.height], [1280 - 76, 800 - 76, 56, 56]);
    await page.launcher.click();
    await page.say('hello');
    await answer(page).waitFor();
    const panel = await page.locator('tributary-widget .panel').boundingBox();
    assert.deepEqual([panel.width, panel.height], [400, 640]);
    assert.equal(await page.locator('tributary-widget').evaluate(e => getComputedStyle(e).opacity), '1');
    await page.leave();
  });
});

describe('who may show it, and who may speak', () => {
  test('a page whose origin the gateway does not name gets no chat, and a sentence', async () => {
    stranger.token = () => tokenFor('eve');
    const page = await visit(stranger.serve({ html: tag(), script: INIT() }));
    await page.launcher.click();
    await until('the console says what to do', () =>
      page.said.some(s => s.includes(`The gateway must name ${stranger.origin} in widget.allow_origins`)),
    );
    await page.getByRole('alert').getByText('The chat cannot be shown on this page.').waitFor();
    assert.equal(stranger.asked, 0, 'no token was asked for');
    page.errors = page.errors.filter(e => !/frame-ancestors/.test(e)); // the refusal of the gateway is the point
    await page.leave();
  });

  test('another origin in the address of the frame gets nothing: neither words nor questions', async () => {
    host.token = () => tokenFor('eve');
    const script = `const f = document.createElement('iframe'); f.src = ${JSON.stringify(site.base)} + '/embed?origin=' + encodeURIComponent('https://elsewhere.example');
      window.heard = []; addEventListener('message', e => heard.push(e.data)); setInterval(() => f.contentWindow.postMessage({ tributary: 1, type: 'start', start: {} }, '*'), 100); document.body.append(f);`;
    const page = await visit(host.serve({ script }));
    await until('the page in the frame says so', () =>
      page.said.some(s => s.includes(`a message from ${host.origin} was refused, because only https://elsewhere.example may send it`)),
    );
    assert.deepEqual(await page.evaluate(() => window.heard), []);
    await page.leave();
  });

  test('a message of another window does not count for the host', async () => {
    host.token = () => tokenFor('ada');
    const page = await visit(host.serve({ html: tag(), script: INIT() }));
    await page.launcher.click();
    await page.box.waitFor();
    const asked = host.asked;
    await page.evaluate(() => postMessage({ tributary: 1, type: 'token', ask: 99 }, '*'));
    await until('the console says so', () => page.said.some(s => s.includes(`a message from ${host.origin} was refused`)));
    assert.equal(host.asked, asked);
    await page.leave();
  });

  test('where host and gateway are one site, the sign-in of the gateway does not count, and nothing stays in its storage', async () => {
    host.token = () => tokenFor('lea');
    const context = await browser.newContext();
    const own = await context.newPage();
    await own.goto(`${site.base}/?token=${encodeURIComponent(site.token)}`);
    await own.getByRole('textbox', { name: 'Your message' }).waitFor();
    await own.goto(`${site.base}/licenses.md`); // the gateway's own page would write meanwhile
    const stored = () => own.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    const before = await stored();
    assert.equal((await context.cookies(site.base)).length, 1, 'the browser is signed in at the gateway');
    const sent = [];
    const page = await visit(host.serve({ html: tag(), script: INIT() }).replace(host.origin, host.sameSite), { context });
    const hear = r => {
      if (r.url().startsWith(site.base) && r.resourceType() === 'fetch') sent.push(r.allHeaders());
    };
    page.on('request', hear);
    await page.launcher.click();
    await page.say('hello');
    await answer(page).waitFor();
    await page.box.fill('a draft');
    page.off('request', hear); // a later request may outlive the page
    const headers = await Promise.all(sent);
    assert.ok(
      headers.length > 2 && headers.every(h => h.cookie === undefined && h['x-tributary-page'] === undefined && h.authorization),
      JSON.stringify(headers),
    );
    assert.equal((await site.as('lea').get('/api/sessions')).json.sessions.length, 1);
    assert.equal(await stored(), before);
    assert.ok(!JSON.stringify(await context.storageState()).includes('eyJ'), 'no storage has a token');
    await page.leave();
  });
});

describe('sign-in', () => {
  test('a token that ends in the middle of an answer is renewed: the answer goes on, and the draft stays', async () => {
    let seconds = 3;
    host.token = () => tokenFor('carl', seconds);
    const page = await visit(host.serve({ html: tag(), script: INIT(`agent: 'unhurried'`) }));
    await page.launcher.click();
    await page.say('slow');
    await page.chat.getByRole('button', { name: 'Stop' }).waitFor();
    await page.box.fill('a draft');
    const asked = host.asked;
    seconds = 600;
    await until('the host is asked again', () => host.asked > asked);
    const state = async () => (await site.as('carl').get('/api/sessions')).json.sessions[0].state;
    await until('the turn is over', async () => (await state()) === 'idle');
    await page.chat.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    assert.equal(await page.box.inputValue(), 'a draft');
    assert.equal(await page.chat.getByRole('alert').count(), 0);
    const {
      sessions: [session],
    } = (await site.as('carl').get('/api/sessions')).json;
    const last = (await site.as('carl').history(session.id)).at(-1),
      text = last.parts
        .filter(p => p.type === 'text')
        .map(p => p.text)
        .join('');
    assert.equal(session.outcome, 'completed');
    assert.ok((await page.chat.locator('article').last().textContent()).includes(text.slice(-60).trim()), 'the whole answer is shown');
    await page.leave();
  });

  test('without a token the chat says so, and begins when the person has signed in', async () => {
    host.token = () => null;
    const page = await visit(host.serve({ html: tag(), script: INIT() }));
    await page.launcher.click();
    await page.chat.getByText('Please sign in to use this chat.').waitFor();
    host.token = () => tokenFor('dora');
    await page.chat.getByRole('button', { name: 'Try again' }).click();
    await page.box.waitFor();
    await page.leave();
  });

  test('logout clears: the next person sees nothing of it, also in the storage', async () => {
    host.token = () => tokenFor('emil');
    const page = await visit(host.serve({ html: tag(), script: INIT() }));
    await page.launcher.click();
    await page.say('hello');
    await answer(page).waitFor();
    const kept = () => page.evaluate(() => localStorage.getItem('tributary-widget'));
    await until('the conversation is kept', async () => (await kept()) !== null);
    await page.evaluate(() => Tributary.logout());
    assert.equal(await kept(), null);
    await until('the frame is gone', () => page.frames().length === 1);
    host.token = () => tokenFor('fay');
    await page.evaluate(() => Tributary.identify());
    await page.launcher.click();
    await page.box.waitFor();
    assert.equal(await answer(page).count(), 0);
    await page.evaluate(() => Tributary.destroy());
    assert.equal(await page.locator('tributary-widget').count(), 0);
    await page.leave();
  });
});

describe('in use', () => {
  test('an approval is asked and answered inside, and the closed chat shows that it waits', async () => {
    host.token = () => tokenFor('gus');
    const page = await visit(host.serve({ html: tag(), script: INIT() }));
    await page.launcher.click();
    await page.say('approve');
    await page.chat
      .getByRole('button', { name: /^Allow\b/ })
      .first()
      .click();
    await page.chat.getByText('I was allowed to run it').first().waitFor();
    await page.evaluate(() => Tributary.close());
    const { session } = await page.evaluate(() => JSON.parse(localStorage.getItem('tributary-widget')));
    await site
      .as('gus')
      .post('/api/chat', { id: session, messages: [{ id: 'elsewhere', role: 'user', parts: [{ type: 'text', text: 'approve' }] }] }); // by another tab
    await page.getByRole('button', { name: 'Ask us, 1 new' }).waitFor();
    await page.launcher.click();
    await page.getByRole('button', { name: 'Ask us', exact: true }).waitFor();
    await page.chat
      .getByRole('button', { name: /^Allow\b/ })
      .first()
      .waitFor();
    await page.leave();
  });

  test('a question is answered inside', async () => {
    host.token = () => tokenFor('hal');
    const page = await visit(host.serve({ html: tag(), script: INIT() }));
    await page.launcher.click();
    await page.say('ask');
    await page.chat.getByRole('button', { name: 'green' }).click();
    await page.chat.getByText('You chose green.').first().waitFor();
    await page.leave();
  });

  test('by keyboard: the focus goes in, Escape closes, and the focus comes back', async () => {
    host.token = () => tokenFor('ida');
    const page = await visit(host.serve({ html: tag(), script: INIT() }));
    await page.launcher.focus();
    await page.keyboard.press('Enter');
    await until('the field has the focus', () => page.box.evaluate(e => e === document.activeElement && document.hasFocus()));
    await page.keyboard.type('hello');
    await page.keyboard.press('Enter');
    await answer(page).waitFor();
    await page.chat.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await until('the button has the focus', () =>
      page.launcher.evaluate(e => e.getRootNode().activeElement === e && e.ariaExpanded === 'false'),
    );
    await page.locator('#own').focus();
    await page.evaluate(() => Tributary.open());
    await until('the field has the focus', () => page.box.evaluate(e => e === document.activeElement && document.hasFocus()));
    await page.keyboard.press('Escape');
    await until('the app has the focus again', () => page.evaluate(() => document.activeElement.id === 'own'));
    await page.leave();
  });

  test('a chat that opens by itself leaves the focus where it is', async () => {
    host.token = () => tokenFor('kim');
    const page = await visit(host.serve({ html: `${tag()}<input id="field" autofocus>`, script: INIT('open: true') }));
    await page.box.waitFor();
    await page.keyboard.type('for the app');
    assert.equal(await page.locator('#field').inputValue(), 'for the app');
    await page.leave();
  });

  for (const [view, options] of Object.entries(VIEWS)) {
    const { colorScheme, viewport } = options;
    test(`has no fault for axe-core, and takes the theme of the host (${view})`, async () => {
      host.token = () => tokenFor('jan');
      const theme = `theme: { accent: '#7a1fa2', radius: '2px', font: 'Georgia, serif', colorScheme: '${colorScheme}' }`;
      const page = await visit(host.serve({ html: tag(), script: INIT(theme) }), {
        ...options,
        colorScheme: colorScheme === 'light' ? 'dark' : 'light',
      });
      await accessible(page, 'the closed widget');
      await page.launcher.click();
      await page.say('approve');
      await page.chat
        .getByRole('button', { name: /^Allow\b/ })
        .first()
        .waitFor();
      const panel = await page.locator('tributary-widget .panel').boundingBox();
      if (options.hasTouch)
        assert.deepEqual([panel.x, panel.y, panel.width, panel.height], [0, 0, viewport.width, viewport.height], 'a phone is filled');
      const look = await frameOf(page).evaluate(() => [
        getComputedStyle(document.documentElement).colorScheme,
        getComputedStyle(document.documentElement).fontFamily,
        getComputedStyle(document.querySelector('.ask-options button')).backgroundColor,
      ]);
      assert.deepEqual(look, [colorScheme, 'Georgia, serif', 'rgb(122, 31, 162)']);
      await accessible(page, 'the host with the open chat');
      await accessible(frameOf(page), 'the chat in the frame');
      const overflow = await frameOf(page).evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the chat is ${overflow} px too wide`);
      await page.chat.getByRole('button', { name: 'Close' }).click();
      await page.locator('tributary-widget .panel').waitFor({ state: 'hidden' });
      await page.leave();
    });
  }
});

test('the script has at most 10 kB, and is the one that its hash says', async () => {
  const [, address, integrity] = /src="([^"]+)" integrity="([^"]+)"/.exec(tag());
  const res = await fetch(address);
  assert.ok((await res.arrayBuffer()).byteLength <= 10_000);
  assert.match(integrity, /^sha384-/);
  const page = await visit(host.serve({ html: tag().replace('sha384-', 'sha384-AAAA') }));
  await until('a changed script does not run', () => page.said.some(s => /integrity/.test(s)));
  assert.equal(await page.evaluate(() => typeof window.Tributary), 'undefined');
  await page.leave();
});
