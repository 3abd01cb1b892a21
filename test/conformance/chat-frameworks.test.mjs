// @tributary/chat/vue and @tributary/chat/svelte, from the tarball, against the real gateway.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { drop, openWindow, requests } from './lib/browser.mjs';
import { load } from './lib/frameworks.mjs';
import { pack } from './lib/package.mjs';
import { gateway, until } from './lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.chat-frameworks-')),
  unpacked = path.join(built, 'package');
const closeWindow = openWindow();
for (const name of Object.getOwnPropertyNames(window)) {
  // these frameworks use more of a browser than React does
  if (!(name in globalThis))
    globalThis[name] = typeof window[name] === 'function' && /^[a-z]/.test(name) ? window[name].bind(window) : window[name];
}

let site;
before(async () => {
  execFileSync('tar', ['-xzf', pack(), '-C', built]);
  site = await gateway();
});
after(async () => {
  await site.stop();
  fs.rmSync(built, { recursive: true, force: true });
  await closeWindow();
});

function open(mount, props) {
  const place = document.body.appendChild(document.createElement('div')),
    unmount = mount(place, props);
  const button = name => [...place.querySelectorAll('button')].findLast(b => b.textContent === name);
  return {
    has: name => !!button(name),
    articles: () => [...place.querySelectorAll('article')].map(a => a.textContent),
    shows: words => until(`the page shows ${words}; it shows ${place.textContent}`, () => place.textContent.includes(words)),
    press: async name => (await until(`there is a button ${name}; the page shows ${place.textContent}`, () => button(name))).click(),
    async say(text) {
      const field = await until('there is a field for text', () => place.querySelector('textarea'));
      field.value = text;
      field.dispatchEvent(new window.Event('input', { bubbles: true }));
      await this.press('Send');
    },
    leave() {
      if (place.isConnected) unmount();
      place.remove();
    },
  };
}

for (const [name, entry, alias] of [
  ['@ai-sdk/vue 4.0.142', 'chat-vue.js', {}],
  ['@ai-sdk/vue 3.0.288', 'chat-vue.js', { '@ai-sdk/vue': 'vue-3.0.288', ai: 'ai-6.0.323' }],
  ['@ai-sdk/svelte 5.0.118', 'chat-svelte.js', {}],
]) {
  describe(name, { concurrency: 4 }, () => {
    let mount, Transport;
    before(async () => {
      const entries = Object.fromEntries(
        [
          ['/vue', 'vue'],
          ['/svelte', 'svelte'],
          ['', 'index'],
        ].map(([e, file]) => [`@tributary/chat${e}`, path.join(unpacked, `dist/${file}.js`)]),
      );
      ({ mount } = await load(entry, built, { ...alias, ...entries }));
      ({ TributaryTransport: Transport } = await import(path.join(unpacked, 'dist/index.js')));
    });
    const over = (id, outcome) =>
      until(`the turn is ${outcome}`, async () => (await site.trace(id, 'stop')).at(-1)?.payload.outcome === outcome);

    test('a permission, and a reload', async () => {
      const id = randomUUID(),
        page = open(mount, { id, transport: new Transport() });
      await page.say('approve');
      await page.shows('"command": "echo hello"');
      await page.press('Allow');
      await page.shows('I was allowed to run it: echo hello');
      await over(id, 'completed');
      page.leave();
      const again = open(mount, { id, transport: new Transport() });
      await until('the history is shown', () => again.articles().length === 2 && again.articles()[1].includes('I was allowed'));
      assert.equal(again.has('Allow'), false);
      again.leave();
    });

    test('a question in a second tab', async () => {
      const id = randomUUID(),
        first = open(mount, { id, transport: new Transport() });
      await first.say('hello');
      await over(id, 'completed');
      const second = open(mount, { id, transport: new Transport() });
      await until('the history is shown', () => second.articles().length === 2);
      await first.say('ask');
      await second.press('green');
      for (const tab of [first, second]) await tab.shows('You chose green.');
      await until('both show the same', () => first.articles().join() === second.articles().join());
      first.leave();
      second.leave();
    });

    test('of two components with one id each hears its callbacks, and none after it has gone', async () => {
      const id = randomUUID(),
        transport = new Transport(),
        heard = [];
      const [first, second] = ['first', 'second'].map(name => open(mount, { id, transport, onFinish: () => heard.push(name) }));
      for (const [names, turns] of [
        ['first second', 1],
        ['second', 2],
      ]) {
        await second.say('hello');
        await until(
          `turn ${turns} is over; ${heard} have heard it`,
          () => second.articles().length === 2 * turns && !second.has('Stop') && heard.length > 0,
        );
        assert.equal(heard.splice(0).sort().join(' '), names);
        first.leave();
      }
      second.leave();
    });

    test('stop, and a reload in the middle of a turn', async () => {
      const id = randomUUID();
      await site.post('/api/sessions', { id, agent: 'unhurried' });
      const page = open(mount, { id, transport: new Transport() });
      await page.say('slow');
      await until('words come', () => page.articles()[1]?.length > 40);
      drop(id);
      page.leave();
      const again = open(mount, { id, transport: new Transport() });
      await again.press('Stop');
      await over(id, 'canceled');
      await until('the button is gone', () => !again.has('Stop'));
      assert.equal(again.articles().length, 2);
      assert.equal(requests(id).filter(r => r.method === 'POST' && r.path.startsWith('/api/chat')).length, 1);
      again.leave();
    });
  });
}
