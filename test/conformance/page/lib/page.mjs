// The gateway's own page in a real Chromium, against the real gateway with the demo agent.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before } from 'node:test';
import { inChromium, inHeadlessChromium } from '../../lib/chromium.mjs';
import { http, start } from '../../lib/server.mjs';
import { BINARY, PATIENCE, sleep, until } from '../../lib/site.mjs';

// Imported, its seven megabytes would be searched for the names that they export, which takes as long as to load them.
const { chromium } = createRequire(import.meta.url)('playwright-core');

export { http, sleep, until };

const YAML =
  'agents:\n  demo:\n    options: {pace: 4ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 20ms}\n  patient:\n    adapter: demo\n    options: {pace: 300ms}\n  echo: {}\n';

/** Options of a test that measures seconds: it says something on a machine that does nothing else, and runs only where it is asked for. */
export const measurement = { skip: process.env.TRIBUTARY_TEST_FULL !== '1' && 'a measurement: TRIBUTARY_TEST_FULL=1 runs it' };

/** How many times slower the pages' own processor is. 4 finds tests that count on the order of things that take no time. */
const SLOWER = Number(process.env.TRIBUTARY_TEST_SLOWER);
const slow = async page => {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
};

let browser;

/** Chromium for the tests of a file, as launch starts it: call it once, at the top. */
export function useChromium(options) {
  before(async () => {
    browser = await launch(options);
  });
  after(() => browser?.close());
}

/**
 * What makes Chromium cheaper. Code that runs for moments is compiled once: to optimize it takes more than a test gains. And what else has a process of its own, the network
 * and the drawing, is a part of the browser's. But what a person waits for is measured without any of it.
 */
const CHEAPER =
  process.env.TRIBUTARY_TEST_FULL === '1'
    ? []
    : ['--js-flags=--no-maglev --no-turbofan', '--enable-features=NetworkServiceInProcess2', '--in-process-gpu'];

/**
 * whole: with notifications. sites: each site has a process of its own, as in the whole Chromium, so that the frame of another one is a target for axe-core.
 * Chromium has crashed while it started, once in some hundred starts (Segmentation fault), and then gets a second try.
 */
export const launch = ({ whole = false, sites = false } = {}) => {
  const start = () =>
    chromium.launch(whole ? inChromium(...CHEAPER) : inHeadlessChromium(...CHEAPER, ...(sites ? ['--site-per-process'] : [])));
  return start().catch(start);
};

/**
 * A gateway for the tests of a file: call it once, at the top, after useChromium. What it returns has, once the tests run, base and token, get, post and the like
 * of lib/server.mjs, restart and stop. yaml: its configuration; it is the demo agent in two paces, and echo, if none is given.
 */
export function useGateway(yaml = YAML) {
  const site = {};
  before(async () => {
    const server = await start(BINARY, { yaml });
    Object.assign(site, server, http(server));
  });
  after(() => site.stop?.());
  return site;
}

/** Waits until the sessions of a gateway are found by these words: their index is written behind the records. */
export const indexed = (site, words) =>
  until(`a search finds ${words}`, async () => (await site.get(`/api/sessions?q=${encodeURIComponent(words)}`)).json.sessions.length > 0);

/**
 * A page that is signed in at the gateway, as in a browser of its own: Playwright's page at the hash, if one is given, with these besides.
 * errors: what the console said of the policy, and errors that no code caught; leave() fails if there are any. say(text) sends a prompt.
 * prepare: what is done with the page before it loads. options: those of Playwright's newContext (viewport, colorScheme, …).
 */
export async function open(site, hash = '', { prepare, signedIn, ...options } = {}) {
  const page = (await again(options)) ?? (await fresh(browser, options));
  page.leave = async () => {
    const reusable = !page.scripted && !options.permissions;
    await (reusable ? empty(page, site) : page.context().close());
    assert.deepEqual(page.errors, []);
    if (reusable) left.set(kind(options), [...(left.get(kind(options)) ?? []), page]);
  };
  return visit(page, site, hash, { prepare, signedIn });
}

/** The same in a browser of the caller's, which is not shared with other tests. */
export async function openIn(browser, site, hash = '', { prepare, signedIn, ...options } = {}) {
  const page = await fresh(browser, options);
  page.leave = async () => {
    await page.context().close();
    assert.deepEqual(page.errors, []);
  };
  return visit(page, site, hash, { prepare, signedIn });
}

const WINDOW = { width: 1280, height: 800 };

async function fresh(browser, options) {
  const context = await browser.newContext({ viewport: WINDOW, reducedMotion: 'reduce', ...options });
  if (SLOWER) context.on('page', slow);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  watch(page);
  const addInitScript = page.addInitScript.bind(page);
  page.addInitScript = (...script) => {
    page.scripted = true; // the script stays with the page
    return addInitScript(...script);
  };
  page.say = async text => {
    await page.getByRole('textbox', { name: 'Your message' }).fill(text);
    await page.keyboard.press('Enter');
  };
  return page;
}

async function visit(page, site, hash, { prepare, signedIn = true }) {
  await prepare?.(page);
  await page.goto(`${site.base}/${signedIn ? `?token=${encodeURIComponent(site.token)}` : ''}${hash}`);
  return page;
}

/**
 * The pages that tests have left, by the options that only a new context can have. A test gets one of them, without all that the test before has stored, routed
 * and allowed: a new process, which compiles all code again, takes nearly twice the processor time. A page stays with a test that fails.
 */
const left = new Map();
const kind = ({ viewport, colorScheme, ...options }) => JSON.stringify(options);

async function again({ viewport = WINDOW, colorScheme = 'light', ...options }) {
  const page = left.get(kind(options))?.pop();
  if (!page) return;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  return page;
}

async function empty(page, site) {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const event of ['request', 'requestfinished', 'requestfailed']) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(false);
  await context.clearPermissions();
  await page.goto('about:blank');
  await context.clearCookies();
  const client = await context.newCDPSession(page);
  await client.send('Storage.clearDataForOrigin', { origin: new URL(site.base).origin, storageTypes: 'all' });
  await client.detach();
}

/** Collects what no page may do: break its policy, or let an error through. */
export function watch(page) {
  page.errors = [];
  page.on('pageerror', e => page.errors.push(e.message));
  page.on('console', m => {
    if (/Content[- ]Security[- ]Policy/i.test(m.text())) page.errors.push(m.text());
  });
}

/**
 * Begins to watch for an element whose text or name has these words. The function that it returns waits until one has been there, also if it is gone by
 * then: for a sentence that stays some seconds, a state that is over soon. Call it before what shows the element.
 */
export async function glimpse(page, selector, words = '') {
  const watch = await page.evaluateHandle(
    ([selector, words]) => {
      const it = { seen: false };
      new MutationObserver(() => {
        it.seen ||= [...document.querySelectorAll(selector)].some(el => `${el.textContent} ${el.ariaLabel ?? ''}`.includes(words));
      }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      return it;
    },
    [selector, words],
  );
  return () => until(`the page has shown ${selector} ${words}`, () => watch.evaluate(it => it.seen));
}

/** Opens the card of a call, if it is not open. */
export const openCard = card =>
  until('the card is open', async () => {
    if ((await card.locator('> details').getAttribute('open')) !== null) return true;
    await card.locator('summary').first().click();
    return false;
  });

/** Scrolls the conversation up, away from its end, and returns the place where that stops. */
export async function scrollUp(page, by) {
  const box = page.locator('.scroll');
  await box.hover();
  await page.mouse.wheel(0, -by);
  let last = -1;
  return until('the conversation is scrolled up, and stands', async () => {
    const [top, left] = await box.evaluate(el => [el.scrollTop, el.scrollHeight - el.scrollTop - el.clientHeight]);
    const stands = left > by / 2 && top === last;
    last = top;
    return stands && { top };
  });
}

/** Waits until the conversation stands: nothing moves in it, and it gets no longer, for ten frames. */
export const still = page =>
  page.evaluate(
    () =>
      new Promise(done => {
        let seen,
          frames = 0;
        const look = () => {
          const { scrollTop, scrollHeight } = document.querySelector('.scroll');
          const now = `${scrollTop} ${scrollHeight}`;
          frames = now === seen ? frames + 1 : 0;
          seen = now;
          if (frames < 10) requestAnimationFrame(look);
          else done();
        };
        look();
      }),
  );

/** Waits until the browser has stored the files that are attached: a page writes them while it shows them. */
export const stored = page =>
  page.evaluate(
    () =>
      new Promise((done, failed) => {
        const request = indexedDB.open('tributary', 1);
        request.onerror = failed;
        request.onsuccess = () => {
          const db = request.result,
            read = db.transaction('attachments').objectStore('attachments').count(); // behind what is being written
          read.onerror = failed;
          read.onsuccess = () => {
            db.close();
            done();
          };
        };
      }),
  );

/** For open's prepare: a page whose prompts and streams are requests, which a test can hold, change and fail. */
export const withoutSockets = page =>
  page.addInitScript(() => {
    delete globalThis.SharedWorker;
    delete globalThis.WebSocket;
  });

const AXE = fs.readFileSync(
  path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../node_modules/axe-core/axe.min.js'),
  'utf8',
);

// A menu floats at the end of the document, and belongs to its button, not to a landmark. The guards that keep the keyboard in a menu are no content: they pass the focus on at once.
const AXE_RULES = `axe.configure({ rules: [{ id: 'region', selector: 'body *:not([data-base-ui-portal], [data-base-ui-portal] *)' }] });`;
const AXE_SCOPE = `{ include: [['html']], exclude: [['[data-base-ui-focus-guard]']] }`;

/** Fails if axe-core finds a violation on the page as it is now, or in a frame of another site. It runs in a world of its own, so the page's policy does not forbid it. */
export async function accessible(page, name) {
  const client = await (page.context?.() ?? page.page().context()).newCDPSession(page);
  const { frameTree } = await client.send('Page.getFrameTree');
  const { executionContextId: contextId } = await client.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'axe',
  });
  const run = async expression => {
    const { result, exceptionDetails } = await client.send('Runtime.evaluate', {
      expression,
      contextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  if (!(await run('globalThis.axe !== undefined'))) await run(AXE + AXE_RULES);
  const violations = await run(
    `axe.run(${AXE_SCOPE}, { resultTypes: ['violations'] }).then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target + ' ' + n.failureSummary).join(' | ')))`,
  );
  await client.detach();
  assert.deepEqual(violations, [], `axe-core on ${name}`);
}
