// The stock clients of other frameworks against the real gateway: the pages in frameworks/, and what a person does there.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { load } from './lib/frameworks.mjs';
import { leaveAll, open, openBrowser, outcomes, over, same, texts } from './lib/person.mjs';
import { gateway, until } from './lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.frameworks-'));
const closeWindow = openBrowser();

let site;
before(async () => {
  site = await gateway();
});
after(async () => {
  leaveAll();
  await site.stop();
  fs.rmSync(built, { recursive: true, force: true });
  await closeWindow();
});

describe('frameworks', { concurrency: 2 }, () => {
  for (const { name, entry, alias, mount = 'mount', ownId = true } of [
    { name: '@ai-sdk/vue 4.0.142', entry: 'vue.js' },
    { name: '@ai-sdk/vue 3.0.288', entry: 'vue.js', alias: { '@ai-sdk/vue': 'vue-3.0.288', ai: 'ai-6.0.323' } },
    { name: '@ai-sdk/svelte 5.0.118', entry: 'svelte.js' },
    { name: '@assistant-ui/react 0.15.22, useAISDKRuntime', entry: 'assistant-ui.jsx', mount: 'mountOwn' },
    { name: '@assistant-ui/react 0.15.22, useChatRuntime', entry: 'assistant-ui.jsx', mount: 'mountStock', ownId: false },
  ]) {
    describe(name, { concurrency: 4 }, () => {
      let page;
      before(async () => {
        const loaded = await load(entry, built, alias);
        page = (...args) => loaded[mount](...args);
        page.resumes = ownId; // a page with an id of the client asks for nothing
      });
      const fresh = () => open(site, page);
      /** A page whose turns take long enough to do something meanwhile, on a busy machine too. */
      const unhurried = async () => {
        const id = randomUUID();
        await site.post('/api/sessions', { id, agent: 'unhurried' });
        return open(site, page, id);
      };

      test('plain text', async () => {
        const p = await fresh();
        await p.say('hello');
        await p.shows('demo agent');
        await over(site, p, 'completed', 1);
        await same(site, p);
        await p.say('remember');
        await over(site, p, 'completed,completed', 2);
        await same(site, p);
        assert.equal(p.alert(), undefined);
      });

      test('a tool, and its output', async () => {
        const p = await fresh();
        await p.say('tool');
        await p.shows('The file says: Hello from the demo.');
        await over(site, p, 'completed', 1);
        assert.deepEqual(
          p.shown('pre').map(t => t.includes('read_file') && t.includes('Hello from the demo.')),
          [true],
        );
        await same(site, p);
      });

      test('reasoning', async () => {
        const p = await fresh();
        await p.say('think');
        await over(site, p, 'completed', 1);
        await until('the reasoning is shown', () => p.shown('em').join().includes('I shall look thoughtful'));
        await same(site, p);
      });

      for (const [button, chosen, heard] of [
        ['Allow', 'allow', 'I was allowed to run it: echo hello'],
        ['Deny', 'deny', 'I did not run the command'],
      ]) {
        test(`approval: ${button}`, async () => {
          const p = await fresh();
          await p.say('approve');
          await p.answer(button);
          await p.shows(heard);
          await over(site, p, 'completed', 2);
          assert.deepEqual(
            (await site.trace(p.id, 'permission_response')).map(r => r.payload.chosen_option),
            [chosen],
          );
          await same(site, p);
          assert.equal(p.has('Allow'), false);
        });
      }

      test('approval: the user types yes', async () => {
        const p = await fresh();
        await p.say('approve');
        await until('a person is asked', () => p.has('Allow') && !p.has('Stop'));
        await p.say('yes');
        await p.shows('I was allowed to run it: echo hello');
        await over(site, p, 'completed', 2);
        assert.deepEqual(
          (await site.trace(p.id, 'permission_response')).map(r => r.payload.chosen_option),
          ['allow'],
        );
        if (ownId) await same(site, await p.reload());
      });

      test('approval: the user types a new prompt', async () => {
        const p = await fresh();
        await p.say('approve');
        await until('a person is asked', () => p.has('Allow') && !p.has('Stop'));
        await p.say('tool');
        await p.shows('The file says: Hello from the demo.');
        await over(site, p, 'canceled,completed', 2);
        assert.deepEqual(
          (await site.trace(p.id, 'permission_response')).map(r => r.payload.chosen_option),
          ['deny'],
        );
      });

      test('question: a choice', async () => {
        const p = await fresh();
        await p.say('ask');
        await p.answer('green');
        await p.shows('You chose green.');
        await over(site, p, 'completed', 2);
        await same(site, p);
      });

      test('question: the user types green', async () => {
        const p = await fresh();
        await p.say('ask');
        await until('a person is asked', () => p.has('green') && !p.has('Stop'));
        await p.say('green');
        await p.shows('You chose green.');
        await over(site, p, 'completed', 2);
        assert.equal((await site.history(p.id)).flatMap(texts).filter(t => t.includes('You chose green.')).length, 1);
      });

      test('a question and two permissions at the same time', async () => {
        const p = await fresh();
        await p.say('mixed');
        await until('all three are asked', async () => (await site.trace(p.id, 'permission_request')).length === 2);
        await p.answer('red');
        await until('the response has ended and asks for the rest', () => p.count('Deny') === 2 && !p.has('Stop'));
        await p.press('Deny');
        await until('one permission is left', () => p.count('Deny') === 1);
        await p.press('Allow');
        await p.shows('You chose red.');
        await until('the turn is over', async () => (await outcomes(site, p.id)).length === 1);
        assert.deepEqual((await site.trace(p.id, 'permission_response')).map(r => r.payload.chosen_option).sort(), ['allow', 'deny']);
      });

      test('a failure is a sentence', async () => {
        const p = await fresh();
        await p.say('error');
        await until(`there is an alert; the page shows ${JSON.stringify(p.shown('article'))}`, () => p.alert());
        const failed = await until('the history has it', async () =>
          (await site.history(p.id)).at(-1)?.parts.find(part => part.type === 'data-error'),
        );
        assert.equal(p.alert(), failed.data.message);
      });

      if (!ownId) {
        test('a fault: each page load is a new session, with an id of the client', async () => {
          const id = randomUUID(),
            p = await open(site, page, id);
          await p.say('hello');
          await over(site, p, 'completed', 1);
          assert.match(p.id, /^__LOCALID_/);
          assert.deepEqual(await (await open(site, page, id)).articles(), []);
        });

        test('a fault: stop only closes the connection, and the turn goes on for its grace', async () => {
          const p = await fresh();
          await p.say('slow');
          await until('words come', () => p.articles()[1]?.textContent.length > 20);
          await p.press('Stop');
          await until('the page has stopped', () => !p.has('Stop'));
          await over(site, p, 'completed', 1);
        });
        return;
      }

      test('stop', async () => {
        const p = await unhurried();
        await p.say('slow 10000');
        await until('words come', () => p.articles()[1]?.textContent.length > 40);
        await p.press('Stop');
        await over(site, p, 'canceled', 1);
        assert.equal((await site.trace(p.id, 'stop'))[0].payload.reason, 'stopped');
        await until('the button is gone', () => !p.has('Stop'));
      });

      test('reload in the middle of a turn', async () => {
        const p = await unhurried();
        await p.say('slow');
        await until('words come', () => p.articles()[1]?.textContent.length > 40);
        const again = await p.reload();
        await over(site, again, 'completed', 1);
        await same(site, again);
        assert.equal(again.articles().length, 2);
      });

      for (const [prompt, button, heard] of [
        ['approve', 'Allow', 'I was allowed to run it: echo hello'],
        ['ask', 'green', 'You chose green.'],
      ]) {
        test(`reload while the turn waits: ${prompt}`, async () => {
          const p = await fresh();
          await p.say(prompt);
          await until('a person is asked', () => p.has(button));
          const again = await p.reload();
          await again.answer(button);
          await again.shows(heard);
          await over(site, again, 'completed', 2);
          await same(site, again);
        });
      }
    });
  }
});
