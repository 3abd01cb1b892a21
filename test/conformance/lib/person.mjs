// A person at a chat page of some framework: what they see of it, and what they do. The pages run in this process, in happy-dom.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { drop, openWindow, requests } from './browser.mjs';
import { sleep, until } from './site.mjs';

/** A document with all else of a browser that frameworks use. Globals of Node stay Node's. */
export function openBrowser() {
  const close = openWindow();
  for (const name of Object.getOwnPropertyNames(window)) {
    if (!(name in globalThis))
      globalThis[name] = typeof window[name] === 'function' && /^[a-z]/.test(name) ? window[name].bind(window) : window[name];
  }
  return close;
}

const mounted = new Set();

/** All pages are gone. */
export const leaveAll = () => {
  for (const page of mounted) page.leave();
};

/** A page that is loaded, with the history of its session: what a person sees of it, and what they do. */
export async function open(site, mount, id = randomUUID(), history = []) {
  const place = document.body.appendChild(document.createElement('div'));
  const unmount = mount(place, { id, history });
  const button = name => [...place.querySelectorAll('button')].findLast(b => b.textContent === name && !b.disabled);
  const seen = () => JSON.stringify(place.textContent.slice(0, 600));
  const page = {
    get id() {
      return place.querySelector('[data-session]')?.dataset.session.replace(/^DEFAULT.*/, id) ?? id;
    },
    has: name => !!button(name),
    count: name => [...place.querySelectorAll('button')].filter(b => b.textContent === name).length,
    shows: words => until(`the page shows ${JSON.stringify(words)}; it shows ${seen()}`, () => place.textContent.includes(words)),
    press: async name => (await until(`there is a button ${name}; the page shows ${seen()}`, () => button(name))).click(),
    /** Presses a button of a request once the response has ended, as a person does. */
    async answer(name) {
      await until(`a person is asked and the response has ended; the page shows ${seen()}`, () => page.has(name) && !page.has('Stop'));
      await page.press(name);
    },
    articles: () => [...place.querySelectorAll('article')],
    shown: of => [...place.querySelectorAll(of)].map(e => e.textContent),
    alert: () => place.querySelector('[role=alert]')?.textContent,
    async say(text) {
      const input = await until('there is a field for text', () => place.querySelector('textarea'));
      Object.getOwnPropertyDescriptor(window.HTMLTextAreaElement.prototype, 'value').set.call(input, text);
      input.dispatchEvent(new window.Event('input', { bubbles: true }));
      await sleep(20);
      await page.press('Send');
    },
    /** The page is gone, without a word. */
    leave() {
      if (!mounted.delete(page)) return;
      drop(page.id);
      unmount();
      place.remove();
    },
    /** The page is loaded anew. */
    async reload() {
      page.leave();
      return open(site, mount, id, await site.history(id));
    },
  };
  mounted.add(page);
  await until('there is a field for text', () => place.querySelector('textarea'));
  // A late 204 to the resume sets a client to `ready` and clears its error, whatever it does by then.
  const resumes = () => requests(page.id).filter(r => r.method === 'GET' && r.path.includes('/stream'));
  if (mount.resumes) await until('the resume has its answer', () => resumes().length && resumes().every(r => r.status !== null));
  return page;
}

export const posts = id => requests(id).filter(r => r.method === 'POST' && r.path.startsWith('/api/chat'));
export const outcomes = async (site, id) => (await site.trace(id, 'stop')).map(s => s.payload.outcome);
export const texts = message => message.parts.filter(p => p.type === 'text').map(p => p.text);

/** The turns are over, with these outcomes, after so many POSTs that were all taken, and the client does not ask again. */
export async function over(site, page, wanted, count) {
  await until(`the turns are ${wanted}`, async () => (await outcomes(site, page.id)).length >= wanted.split(',').length);
  await sleep(100);
  assert.equal((await outcomes(site, page.id)).join(), wanted);
  assert.deepEqual(
    posts(page.id).map(r => r.status),
    Array(count).fill(200),
  );
}

/** Nothing is shown twice, and all that history has is there. */
export async function same(site, page) {
  const history = await site.history(page.id);
  await until(
    'the page shows the texts of the history',
    () => JSON.stringify(page.shown('article p')) === JSON.stringify(history.flatMap(texts)),
  ).catch(() => assert.deepEqual(page.shown('article p'), history.flatMap(texts)));
}

/** Waits until the one request that waits has the title, and the page a button for it. */
export const asked = (site, p, title) =>
  until(`"${title}" is asked`, async () => {
    const { requests } = (await site.get(`/api/sessions/${p.id}/requests`)).json;
    return requests.length === 1 && requests[0].title === title && p.has('Allow');
  });
