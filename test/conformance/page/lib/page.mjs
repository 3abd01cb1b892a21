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

/** Code that runs for moments is compiled once. To optimize it takes more than a test gains; but what a person waits for is measured with it. */
const UNOPTIMIZED = process.env.TRIBUTARY_TEST_FULL === '1' ? [] : ['--js-flags=--no-maglev --no-turbofan'];

/** whole: with notifications. sites: each site has a process of its own, as in the whole Chromium, so that the frame of another one is a target for axe-core. */
export const launch = ({ whole = false, sites = false } = {}) =>
  chromium.launch(whole ? inChromium(...UNOPTIMIZED) : inHeadlessChromium(...UNOPTIMIZED, ...(sites ? ['--site-per-process'] : [])));

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
 * A browser of its own that is signed in at the gateway and shows the page, at the hash if one is given: Playwright's page, with these besides.
 * errors: what the console said of the policy, and errors that no code caught; close() fails if there are any. say(text) sends a prompt.
 * prepare: what is done with the page before it loads. options: those of Playwright's newContext (viewport, colorScheme, …).
 */
export const open = (site, hash = '', options = {}) => openIn(browser, site, hash, options);

/** The same in a browser of the caller's. */
export async function openIn(browser, site, hash = '', { signedIn = true, prepare, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  if (SLOWER) context.on('page', slow);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  watch(page);
  await prepare?.(page);
  await page.goto(`${site.base}/${signedIn ? `?token=${encodeURIComponent(site.token)}` : ''}${hash}`);
  page.say = async text => {
    await page.getByRole('textbox', { name: 'Your message' }).fill(text);
    await page.keyboard.press('Enter');
  };
  const close = context.close.bind(context);
  page.leave = async () => {
    await close();
    assert.deepEqual(page.errors, []);
  };
  return page;
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
    await sleep(100);
    return stands && { top };
  });
}

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
