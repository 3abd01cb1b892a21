// @tributary/chat, packed and installed, with the stock clients of ai 5, 6 and 7 against the real gateway.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createElement } from 'react';
import { cutAfter, drop, holdHistory, openWindow, refusePost, requests, visit } from './lib/browser.mjs';
import { CLIENTS } from './lib/clients.mjs';
import { install, pack, tool } from './lib/package.mjs';
import { ROOT } from './lib/page.mjs';
import { http, start } from './lib/server.mjs';
import { BINARY, gateway, sleep, until } from './lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const folder = fs.mkdtempSync(path.join(HERE, 'node_modules/.chat-package-')); // here React and the clients are found
const closeWindow = openWindow();
const { createRoot } = await import('react-dom/client'); // it looks for the window when it is loaded
const apps = new Map();
before(() => {
  const tarball = pack();
  for (const client of CLIENTS) apps.set(client.name, install(tarball, folder, client));
});
after(async () => {
  fs.rmSync(folder, { recursive: true, force: true });
  await closeWindow();
});

const open = [];
/** A page of the app: what a person sees, and what they do. */
function mount(Page, props) {
  const place = document.body.appendChild(document.createElement('div')),
    root = createRoot(place);
  const buttons = () => [...place.querySelectorAll('button')],
    articles = () => [...place.querySelectorAll('article')];
  const page = {
    id: props.id,
    show: more => root.render(createElement(Page, { ...props, ...more })),
    get text() {
      return place.textContent;
    },
    get draft() {
      return place.querySelector('input')?.value;
    },
    articles,
    has: name => buttons().some(b => b.textContent === name),
    shows: words =>
      until(`the page shows ${JSON.stringify(words)}; it shows ${JSON.stringify(place.textContent.slice(0, 600))}`, () =>
        place.textContent.includes(words),
      ),
    async press(name) {
      await until(`there is a button ${name}; the page shows ${JSON.stringify(place.textContent.slice(0, 600))}`, () => page.has(name));
      buttons()
        .findLast(b => b.textContent === name)
        .click();
    },
    async say(text) {
      const form = await until('there is a form', () => place.querySelector('form')),
        field = form.elements.text;
      Object.getOwnPropertyDescriptor(field.constructor.prototype, 'value').set.call(field, text);
      field.dispatchEvent(new window.Event('input', { bubbles: true }));
      await until('the text is typed', () => page.draft === text);
      form.dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
    },
    alert: () => place.querySelector('[role=alert]')?.textContent,
    leave() {
      root.unmount();
      place.remove();
    },
  };
  open.push(page);
  page.show();
  return page;
}

const site = { now: null };
const trace = (id, type) => site.now.trace(id, type);
const posts = id => requests(id).filter(r => r.method === 'POST' && r.path.startsWith('/api/chat'));
const resumes = id => requests(id).filter(r => /\/stream(\?|$)/.test(r.path));
const text = message =>
  message.parts
    .filter(p => p.type === 'text')
    .map(p => p.text)
    .join('');
const over = (id, outcome) => until(`the turn is ${outcome}`, async () => (await trace(id, 'stop')).at(-1)?.payload.outcome === outcome);
const history = id => site.now.history(id);

describe('useTributaryChat', { concurrency: 3 }, () => {
  before(async () => {
    site.now = await gateway('  echo: {}\nsessions:\n  grace: 1m\n  grace_limit: 5m\n');
  });
  after(async () => {
    for (const page of open.splice(0)) page.leave();
    await site.now.stop();
  });

  for (const client of CLIENTS.filter(c => c.keepsQuery)) {
    describe(`with ai ${client.name}`, { concurrency: 5 }, () => {
      let Page, Other, Probe, Eager, core;
      before(async () => {
        const app = apps.get(client.name);
        ({ Page } = await app.load('page.tsx'));
        ({ Probe, Eager } = await app.load('probe.tsx'));
        core = await app.entry('index');
        Other = props => createElement(Page, { ...props, transport: other });
      });
      let other;
      before(() => {
        other = new core.TributaryTransport();
      }); // a tab of its own: it shares no conversation with the first
      const page = (more = {}) => mount(Page, { id: randomUUID(), ...more });
      /** A page whose turns take long enough to do something meanwhile. */
      const unhurried = () => page({ agent: 'unhurried' });
      const words = p => until(`words come; the page shows ${JSON.stringify(p.text)}`, () => p.articles()[1]?.textContent.length > 40);

      test('a prompt has its answer, and a reload shows the same', async () => {
        const first = page();
        await first.say('tool');
        await over(first.id, 'completed');
        assert.match(posts(first.id)[0].path, new RegExp(`client=${client.major}&`));
        const again = mount(Other, { id: first.id });
        await until('both show the same', () => again.articles().length === 2 && again.text === first.text);
        assert.equal(first.draft, '');
      });

      for (const [button, record, heard] of [
        ['Allow', { chosen_option: 'allow' }, 'I was allowed to run it: echo hello'],
        ['Always', { chosen_option: 'always', option_kind: 'allow_always' }, 'I am always allowed to run it'],
        ['Allow edited', { updated_input: { command: 'echo edited' } }, 'I was allowed to run it: echo edited'],
        ['Deny', { chosen_option: 'deny', reason: 'not today' }, 'I did not run the command: not today.'],
      ]) {
        test(`a permission: ${button}`, async () => {
          const asked = page();
          await asked.say('approve');
          await asked.press(button);
          await asked.shows(heard);
          await over(asked.id, 'completed');
          const [{ payload }] = await trace(asked.id, 'permission_response');
          assert.deepEqual(Object.fromEntries(Object.keys(record).map(k => [k, payload[k]])), record);
          await until('the same message goes on', () => asked.articles().length === 2 && !asked.has('Allow'));
          assert.equal(asked.text.split('I would like to run a command.').length, 2, 'nothing is shown twice');
          assert.equal(asked.alert(), undefined);
        });
      }

      test('a question, answered after a reload', async () => {
        const first = page();
        await first.say('ask');
        await until('a person is asked', () => first.has('green'));
        first.leave();
        const again = mount(Other, { id: first.id });
        await again.press('green');
        await again.shows('You chose green.');
        await over(first.id, 'completed');
        await until('the same message goes on', () => again.articles().length === 2 && !again.has('green'));
      });

      test('stop ends the turn', async () => {
        const stopped = unhurried();
        await stopped.say('slow 10000');
        await words(stopped);
        await stopped.press('Stop');
        await over(stopped.id, 'canceled');
        assert.equal((await trace(stopped.id, 'stop'))[0].payload.reason, 'stopped');
        await until('the button is gone', () => !stopped.has('Stop'));
      });

      test('a reload in the middle of a turn shows all of it, once', async () => {
        const first = unhurried();
        await first.say('slow');
        await words(first);
        drop(first.id);
        first.leave();
        const again = mount(Other, { id: first.id });
        await over(first.id, 'completed');
        const said = text((await history(first.id))[1]);
        await until(
          `all of it is shown, once; it shows ${JSON.stringify(again.text)}`,
          () => again.articles()[1]?.textContent === said && again.articles().length === 2,
        );
      });

      test('a page that is opened while a prompt waits shows the running answer once, and then both in their order', async () => {
        const first = unhurried();
        await first.say('slow 10000'); // it ends when it is stopped, however slow the machine is
        await words(first);
        void site.now.post('/api/chat', {
          id: first.id,
          messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
        });
        await until('the prompt waits', async () => (await site.now.get(`/api/sessions/${first.id}/queue`)).json.queue.length === 1);
        const again = mount(Other, { id: first.id });
        let most = 0;
        await until('the running answer is shown', () => again.articles().some(a => a.textContent.includes('many streams')));
        await site.now.post(`/api/sessions/${first.id}/stop`, { queue: 'run' });
        await until('both answers are shown', () => {
          most = Math.max(most, again.articles().filter(a => a.textContent.includes('many streams')).length);
          return again.articles().length === 4 && again.text.includes('I am the demo agent');
        });
        assert.equal(most, 1);
        await until('both turns are over', async () => (await trace(first.id, 'stop')).length === 2); // then the history has all of their text
        assert.deepEqual(
          again.articles().map(a => a.textContent.slice(0, 5)),
          (await history(first.id)).map(m => text(m).slice(0, 5)),
        );
      });

      test('a lost connection is taken up again, by itself', async () => {
        const first = unhurried();
        cutAfter(first.id, 2000);
        await first.say('slow');
        await over(first.id, 'completed');
        const said = text((await history(first.id))[1]);
        await until(
          `all of it is shown, once; it shows ${JSON.stringify(first.text)}`,
          () => first.articles()[1]?.textContent === said && first.articles().length === 2,
        );
        assert.equal(posts(first.id).length, 1);
        await until('no error is shown', () => !first.alert() && !first.text.includes('away'));
      });

      test('a prompt that did not reach the gateway is a draft again', async () => {
        const first = page();
        await until('the page is there', () => first.draft === '');
        refusePost(first.id);
        await first.say('hello');
        await until('the text is given back', () => first.draft === 'hello' && first.articles().length === 0);
        await first.say('hello');
        await until(`there is an answer; the page shows ${first.text}`, () => first.articles().length === 2);
        await over(first.id, 'completed');
        assert.equal((await history(first.id)).length, 2);
      });

      test('a refusal is a sentence, and a draft', async () => {
        const first = page({ agent: 'nobody' });
        await first.say('hello');
        await until('there is an alert', () => first.alert());
        assert.match(first.alert(), /nobody/);
        await until('the text is a draft', () => first.draft === 'hello');
      });

      test('a fresh session loads nothing, and is made right before its first prompt', async () => {
        const id = randomUUID();
        let made = 0;
        const first = page({
          id,
          fresh: true,
          onBegin: async () => {
            made++;
            await site.now.post('/api/sessions', { id, title: 'Made before' });
          },
        });
        await until('the page is there', () => first.draft === '');
        assert.deepEqual([requests(id).length, made], [0, 0]);
        for (const n of [2, 4]) {
          await first.say('hello');
          await until(`there are ${n} messages; the page shows ${first.text}`, () => first.articles().length === n && !first.has('Stop'));
        }
        assert.equal(made, 1);
        assert.equal((await site.now.get(`/api/sessions/${id}`)).json.title, 'Made before');
      });

      test('an edit that did not reach the gateway removes nothing, and the app has its text', async () => {
        const refused = [],
          first = page({ onRefused: what => refused.push(what) });
        await first.say('hello');
        await over(first.id, 'completed');
        await until('the turn is over here too', () => first.articles().length === 2 && !first.has('Stop'));
        const was = first.articles().map(a => a.textContent),
          [{ id: edited }] = await history(first.id);
        refusePost(first.id);
        await first.press('Edit');
        await until('the edit is handed back', () => refused.length === 1);
        assert.deepEqual([refused[0].messageId, text(refused[0].message)], [edited, 'edited']);
        await until(
          'the messages are there again',
          () =>
            first
              .articles()
              .map(a => a.textContent)
              .join() === was.join(),
        );
        assert.equal(first.draft, '', 'the app has taken the text');
      });

      test('a session that another program has begun appears after a refresh', async () => {
        const first = page();
        await until('the page is there', () => first.draft === '');
        await site.now.post('/api/chat', {
          id: first.id,
          messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
        });
        await first.press('Refresh');
        await until('the conversation is shown', () => first.articles().length === 2);
      });

      test('a second tab shows the turn of the first, and answers for it', async () => {
        const first = page();
        await first.say('hello');
        await over(first.id, 'completed');
        const second = mount(Other, { id: first.id });
        await until('the second tab shows the history', () => second.articles().length === 2);
        await first.say('approve');
        await second.press('Allow');
        for (const tab of [first, second]) await tab.shows('I was allowed to run it: echo hello');
        const shown = tab => tab.articles().map(a => a.textContent);
        await until('both show the same', () => shown(first).length === 4 && shown(first).join() === shown(second).join());
      });

      test('a change of session aborts nothing', async () => {
        const first = unhurried(),
          elsewhere = randomUUID();
        await first.say('slow');
        await words(first);
        first.show({ id: elsewhere });
        await until('another session is shown', () => first.draft === '' && first.articles().length === 0);
        await sleep(300);
        first.show();
        await until('the first one is shown, with all that came', () => first.articles()[1]?.textContent.length > 40);
        await over(first.id, 'completed');
        const said = text((await history(first.id))[1]);
        await until('all of it is shown, once', () => first.articles()[1]?.textContent === said && first.articles().length === 2);
        assert.deepEqual([posts(first.id).length, resumes(first.id).length], [1, 0], 'one stream brought all of it');
      });

      /** What the hook returns now and returned at first, and each error that it has shown. */
      function probe(options) {
        const probed = { first: undefined, chat: undefined, errors: [] };
        mount(Probe, {
          options,
          give: chat => {
            probed.first ??= { chat };
            probed.chat = chat;
            if (chat.error) probed.errors.push([chat.error, chat.connected]);
          },
        });
        return probed;
      }
      const shown = ({ chat }) => chat?.messages.flatMap(m => m.parts.map(p => p.text ?? '')).join(' ') ?? '';

      test('the members and the options of useChat mean what they mean there', async () => {
        const ai = await import(`ai-${client.name}`),
          id = randomUUID(),
          complete = [ai.lastAssistantMessageIsCompleteWithToolCalls, ai.lastAssistantMessageIsCompleteWithApprovalResponses].filter(
            Boolean,
          );
        let made = 0;
        const finished = [],
          probed = probe({
            id,
            resume: true,
            throttle: 20,
            experimental_throttle: 20,
            messages: [{ id: 'u0', role: 'user', parts: [{ type: 'text', text: 'from the server' }] }],
            generateId: () => `own-${made++}`,
            sendAutomaticallyWhen: now => complete.some(is => is(now)),
            onFinish: ({ message }) => finished.push(message.id),
          });
        await until('there is a chat', () => probed.chat);
        assert.deepEqual([shown(probed.first), probed.first.chat.loading], ['from the server', false]);
        await until('the history of the gateway is shown', () => probed.chat.missing && shown(probed) === '');
        await probed.chat.sendMessage({ text: 'ask' });
        assert.match(probed.chat.messages[0].id, /^own-/);
        await until('a person is asked', () => probed.chat.requests.length === 1);
        const addOutput = client.major === 5 ? probed.chat.addToolResult : probed.chat.addToolOutput;
        await addOutput({ tool: 'AskUser', toolCallId: probed.chat.requests[0].id, output: 'green' });
        await until(
          `the answer has arrived; it shows ${shown(probed)}`,
          () => shown(probed).includes('You chose green.') && !probed.chat.busy,
        );
        if (client.major > 5) {
          await probed.chat.sendMessage({ text: 'approve' });
          await until('a person is asked again', () => probed.chat.requests.length === 1);
          await probed.chat.addToolApprovalResponse({ id: probed.chat.requests[0].id, approved: true });
          await until(`the approval has arrived; it shows ${shown(probed)}`, () => shown(probed).includes('I was allowed to run it'));
        }
        await over(id, 'completed');
        await until('all is over here too', () => !probed.chat.busy);
        assert.ok(finished.includes(probed.chat.messages.at(-1).id));
        assert.deepEqual(probed.errors, []);
        await until('the app has its way', () => {
          if (probed.chat.messages.length > 1) probed.chat.setMessages(now => now.slice(0, 1)); // a history that was on its way may come behind
          return probed.chat.messages.length === 1;
        });
      });

      test('an error is visible, also that of a lost connection, which connected says of it', async () => {
        const id = randomUUID(),
          probed = probe({ id });
        await until('the page is there', () => probed.chat && !probed.chat.loading);
        refusePost(id);
        const back = holdHistory(id);
        await probed.chat.sendMessage({ text: 'hello' });
        await until('the error was shown', () => probed.errors.length > 0);
        back();
        assert.ok(probed.errors.every(([error, connected]) => core.isNetworkError(error) && !connected));
        await until('it has passed', () => !probed.chat.error && probed.chat.connected);
      });

      test('without an id there is a conversation of its own', async () => {
        const one = probe({}),
          two = probe();
        await until('both are there', () => one.chat && two.chat);
        assert.deepEqual([one.chat.loading, one.chat.missing, one.chat.id === two.chat.id], [false, true, false]);
        await one.chat.sendMessage({ text: 'hello' });
        await until('there is an answer', () => one.chat.messages.length === 2);
        assert.equal(two.chat.messages.length, 0);
      });

      test('each component hears its own callbacks, those of its newest rendering, and none after it has gone', async () => {
        const id = randomUUID(),
          heard = [],
          hears = name => ({ onFinish: () => heard.push(name), onRefused: () => heard.push(`${name} refused`) });
        const [first, second] = ['first', 'second'].map(name => page({ id, ...hears(name) }));
        const say = async text => {
          await second.say(text);
          await until('the turn is over', () => heard.length > 0 && !second.has('Stop'));
          return heard.splice(0).sort();
        };
        assert.deepEqual(await say('hello'), ['first', 'second']);
        first.leave();
        second.show(hears('newer'));
        assert.deepEqual(await say('hello'), ['newer']);
        refusePost(id);
        await second.say('hello');
        await until('the refusal is heard', () => heard.includes('newer refused'));
        assert.ok(!heard.some(what => /first|second/.test(what)), heard.join());
      });

      test('a prompt that a child sends in its first effect finds the callbacks', async () => {
        const id = randomUUID();
        let begun = 0;
        mount(Eager, {
          options: {
            id,
            fresh: true,
            onBegin: async () => {
              begun++;
            },
          },
        });
        await over(id, 'completed');
        assert.equal(begun, 1);
      });

      test('regenerate replaces the answer', async () => {
        const first = page();
        await first.say('hello');
        await over(first.id, 'completed');
        const [, was] = await history(first.id);
        await until('the turn is over here too', () => first.articles().length === 2 && !first.has('Stop'));
        await first.press('Again');
        const sees = () =>
          `${first.text}, after ${JSON.stringify(requests(first.id).map(({ method, path, status, open }) => [method, path, status, open]))}`;
        await until(
          () => `there is another answer than ${was.id}; the page shows ${sees()}`,
          async () => {
            const now = await history(first.id);
            return now.length === 2 && now[1].id !== was.id;
          },
        );
        await until('it is the only one', () => first.articles().length === 2);
      });
    });
  }

  test('earlier pages come when they are asked for', async () => {
    const { Page } = await apps.get('7.0.173').load('page.tsx'),
      id = randomUUID();
    for (let i = 0; i < 103; i++)
      await site.now.post('/api/chat', {
        id,
        agent: 'echo',
        messages: [{ id: `u${i}`, role: 'user', parts: [{ type: 'text', text: `number ${i}.` }] }],
      });
    let before;
    const page = mount(Page, {
      id,
      onArrival: () => {
        before = page.articles().length;
      },
    });
    await until('the newest page is shown', () => page.articles().length === 200);
    await page.press('Earlier');
    await until('all of it is shown', () => page.articles().length === 206 && !page.has('Earlier'));
    assert.equal(page.articles()[0].textContent, 'number 0.');
    assert.equal(before, 200, 'the app has had time to note the place');
  });
});

describe('TributaryTransport', { concurrency: 1 }, () => {
  let core;
  before(async () => {
    site.now = await gateway();
    core = await apps.get('7.0.173').entry('index');
  });
  after(() => site.now.stop());

  for (const client of CLIENTS) {
    test(`finds the profile of ai ${client.name}`, async () => {
      const { installedProfile } = await apps.get(client.name).entry('profile');
      assert.equal(await installedProfile(), String(client.major));
    });
  }

  test('events come as an iteration that goes on from a mark', async () => {
    const transport = new core.TributaryTransport(),
      id = randomUUID(),
      end = new AbortController(),
      seen = [];
    await site.now.post('/api/sessions', { id });
    const reading = (async () => {
      for await (const event of transport.events(id, { signal: end.signal })) seen.push(event);
    })();
    await until('the first event is there', () => seen.length === 1);
    await site.now.post('/api/chat', { id, messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }] });
    await until('the turn has ended', () => seen.some(e => e.state === 'ended'));
    end.abort();
    await reading;
    const states = seen.filter(e => e.type === 'turn').map(e => e.state);
    assert.deepEqual(states, ['queued', 'running', 'ended']);
    const running = seen.find(e => e.state === 'running'),
      later = [];
    for await (const event of transport.events(id, { after: running.mark })) {
      later.push(event.state ?? event.type);
      if (event.state === 'ended') break;
    }
    assert.ok(!later.includes('session') && later.at(-1) === 'ended', later.join());
  });

  test('events end when the session is deleted, and throw for one that does not exist', async () => {
    const transport = new core.TributaryTransport(),
      id = randomUUID(),
      seen = [];
    await site.now.post('/api/sessions', { id });
    const reading = (async () => {
      for await (const event of transport.events(id)) seen.push(event.type);
    })();
    await until('the first event is there', () => seen.length === 1);
    await site.now.call('DELETE', `/api/sessions/${id}`);
    await reading;
    assert.equal(seen.at(-1), 'deleted');
    await assert.rejects(
      transport.events(id).next(),
      error => error instanceof core.TributaryError && error.status === 404 && error.code === 'unknown_session',
    );
  });

  test('the list of sessions is pushed', async () => {
    const transport = new core.TributaryTransport(),
      id = randomUUID(),
      end = new AbortController(),
      seen = [];
    const reading = (async () => {
      for await (const event of transport.sessions({ signal: end.signal })) seen.push(event);
    })();
    await until('the list is there', () => seen[0]?.type === 'list');
    await site.now.post('/api/sessions', { id, title: 'Pushed' });
    await until('the new session is there', () =>
      seen.some(e => e.type === 'session' && e.session.id === id && e.session.title === 'Pushed'),
    );
    end.abort();
    await reading;
  });

  test('a prompt can wait behind a turn whose stream another request reads', async () => {
    const transport = new core.TributaryTransport(),
      id = randomUUID(),
      prompt = (name, text) => ({ id: name, role: 'user', parts: [{ type: 'text', text }] });
    const turn = site.now.post('/api/chat', { id, agent: 'unhurried', messages: [prompt('u1', 'slow')] });
    await until('the turn runs', async () => (await site.now.get(`/api/sessions/${id}`)).json?.state === 'running');
    await transport.enqueue(id, prompt('u2', 'hello'));
    await turn;
    await until('both prompts have their answers', async () => (await history(id)).length === 4);
    await assert.rejects(transport.enqueue(id, { id: 'u3', role: 'user', parts: [] }), { name: 'TributaryError', status: 400 });
  });

  test('a stop holds the prompts that wait, or what becomes of them is said', async () => {
    const transport = new core.TributaryTransport();
    for (const [what, waits, held] of [
      [undefined, ['hello', 'usage'], 2],
      ['remove', [], undefined],
      ['run', [], undefined],
    ]) {
      const id = randomUUID(),
        prompt = (name, text) => ({ id: name, role: 'user', parts: [{ type: 'text', text }] });
      const turn = site.now.post('/api/chat', { id, agent: 'unhurried', messages: [prompt('u1', 'slow')] });
      await until('the turn runs', async () => (await site.now.get(`/api/sessions/${id}`)).json?.state === 'running');
      for (const [name, text] of [
        ['u2', 'hello'],
        ['u3', 'usage'],
      ])
        await transport.enqueue(id, prompt(name, text));
      assert.equal((await transport.stopTurn(id, undefined, what)).stopped, true);
      await turn;
      await until('the session is at rest', async () => (await site.now.get(`/api/sessions/${id}`)).json.state === 'idle');
      assert.deepEqual(
        (await transport.queue(id)).map(q => q.text),
        waits,
      );
      assert.equal((await site.now.get(`/api/sessions/${id}`)).json.held, held);
      await transport.continueQueue(id);
      await until('the queue is empty', async () => (await transport.queue(id)).length === 0);
      await transport.clearQueue(id);
    }
  });

  test('an answer that is no JSON comes whole', async () => {
    const transport = new core.TributaryTransport(),
      id = randomUUID();
    await site.now.post('/api/sessions', { id });
    const answer = await transport.response('GET', `/api/sessions/${id}/export?format=markdown`);
    assert.match(answer.headers.get('content-disposition'), /attachment/);
    await answer.text();
  });

  /** Events of a gateway that refuses the first request. */
  const signedOut = () => {
    let asked = 0;
    return new core.TributaryTransport({
      fetch: async () =>
        asked++ === 0
          ? new Response('{"error":"Sign in again.","code":"unauthorized"}', { status: 401 })
          : new Response('data: {"type":"list","sessions":[]}\n\n'),
    });
  };

  test('events that persist go on when the person has signed in again, and say why they do not', async () => {
    const seen = [],
      end = new AbortController();
    for await (const { type } of signedOut().sessions({
      persists: true,
      signal: end.signal,
      onConnection: (there, why) => seen.push([there, why?.status, why?.message]),
    })) {
      seen.push(type);
      end.abort();
    }
    assert.deepEqual(seen, [[false, 401, 'Sign in again.'], [true, undefined, undefined], 'list']);
    await assert.rejects(signedOut().sessions().next(), { name: 'TributaryError', status: 401 });
  });

  test('a lost connection tries again at once when the app says so', async () => {
    let asked = 0;
    const transport = new core.TributaryTransport({
      fetch: async () =>
        asked++ === 0
          ? new Response('{"error":"Later."}', { status: 503, headers: { 'retry-after': '600' } })
          : new Response('data: {"type":"list","sessions":[]}\n\n'),
    });
    const first = transport
      .sessions({
        onConnection: there => {
          if (!there) setTimeout(() => transport.retry(), 20);
        },
      })
      .next();
    assert.equal((await first).value.type, 'list');
  });

  test('a hidden tab reads no events, unless the app wants them in the background', async () => {
    let asked = 0,
      state = 'hidden';
    const transport = new core.TributaryTransport({
      fetch: async () => {
        asked++;
        return new Response('data: {"type":"list","sessions":[]}\n\n');
      },
    });
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    try {
      assert.equal((await transport.sessions({ background: () => true }).next()).value.type, 'list');
      const waits = transport.sessions().next();
      await sleep(50);
      assert.equal(asked, 1);
      state = 'visible';
      document.dispatchEvent(new window.Event('visibilitychange'));
      assert.equal((await waits).value.type, 'list');
    } finally {
      delete document.visibilityState;
    }
  });

  test('refusals have a sentence, a status and a code; a lost connection is a network error', async () => {
    const transport = new core.TributaryTransport(),
      id = randomUUID();
    await site.now.post('/api/sessions', { id });
    await assert.rejects(transport.answer(id, 'approval_x', { approved: true }), {
      name: 'TributaryError',
      status: 404,
      code: 'unknown_request',
    });
    const prompt = {
      trigger: 'submit-message',
      chatId: id,
      messageId: undefined,
      abortSignal: undefined,
      messages: [{ id: 'u1', role: 'user', parts: [] }],
    };
    await assert.rejects(transport.sendMessages(prompt), { name: 'TributaryError', status: 400, code: 'empty_message' });
    const away = new core.TributaryTransport({ url: 'http://127.0.0.1:9' });
    await assert.rejects(away.history(id), error => error instanceof TypeError && /network/.test(error.message));
  });

  test('a stream that a proxy cuts without an error is a network error too', async () => {
    const half = 'data: {"type":"start","messageId":"m"}\n\n';
    const transport = new core.TributaryTransport({
      fetch: async () => new Response(half, { headers: { 'content-type': 'text/event-stream' } }),
    });
    const reader = (await transport.reconnectToStream({ chatId: 'x' })).getReader();
    assert.equal((await reader.read()).value.type, 'start');
    await assert.rejects(reader.read(), error => error instanceof TypeError && /network/.test(error.message));
  });
});

describe('a token that expires', { concurrency: 3 }, () => {
  const secret = randomUUID() + randomUUID();
  const sign = seconds => {
    const claims = { sub: 'ada', name: 'Ada', aud: 'tributary', exp: Math.floor(Date.now() / 1000) + seconds };
    const body = [{ alg: 'HS256' }, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
  };
  let server;
  before(async () => {
    server = await start(BINARY, {
      auth: 'jwt',
      env: { ...process.env, TRIBUTARY_SECRET: secret },
      yaml: 'auth: {jwt: {secret_env: TRIBUTARY_SECRET, audience: [tributary], default_role: collaborator, leeway: 1s}, approver: collaborator}\nagents: {demo: {options: {pace: 20ms}}}\n',
    });
    await visit(server.base); // no proxy adds a token
    site.now = http({ base: server.base, token: sign(600) });
  });
  after(async () => {
    for (const page of open.splice(0)) page.leave();
    await server.stop();
  });

  for (const client of CLIENTS.filter(c => c.keepsQuery)) {
    test(`is asked for again, in the middle of a turn too (ai ${client.name})`, async () => {
      const app = apps.get(client.name),
        { Page } = await app.load('page.tsx'),
        { TributaryTransport } = await app.entry('index');
      const lives = [2, 600]; // seconds
      let asked = 0;
      const transport = new TributaryTransport({ getToken: async () => sign(lives[Math.min(asked++, 1)]) });
      const id = randomUUID(),
        page = mount(Page, { id, transport });
      await page.say('slow');
      await until(
        `the turn is over; the page shows ${page.text}`,
        async () => (await site.now.get(`/api/sessions/${id}`)).json?.outcome === 'completed',
      );
      const said = text((await history(id))[1]);
      await until(
        `all of it is shown, once; it shows ${JSON.stringify(page.text)}`,
        () => page.articles()[1]?.textContent === said && page.articles().length === 2,
      );
      assert.ok(asked >= 2, 'another token was asked for');
      assert.equal(page.alert(), undefined);
    });
  }
});

describe('the types are right', { concurrency: 2 }, () => {
  test('they are those of docs/reference/openapi.yaml', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'packages/chat/generate/types.mjs'), '--check'], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
  });

  for (const client of CLIENTS) {
    test(`with ai ${client.name}`, () => {
      const app = apps.get(client.name),
        types = tool('@types');
      for (const file of ['page.tsx', 'list.ts', 'wire.ts', 'superset.ts'])
        fs.copyFileSync(path.join(HERE, 'chat-package', file), path.join(app.folder, file));
      const readme = fs.readFileSync(path.join(ROOT, 'packages/chat/README.md'), 'utf8');
      fs.writeFileSync(path.join(app.folder, 'readme.tsx'), /^```tsx\n([\s\S]*?)^```$/m.exec(readme)[1]);
      fs.writeFileSync(
        path.join(app.folder, 'tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            strict: true,
            noEmit: true,
            skipLibCheck: false,
            target: 'es2023',
            lib: ['es2023', 'dom', 'dom.iterable'],
            module: 'esnext',
            moduleResolution: 'bundler',
            jsx: 'react-jsx',
            types: ['node'],
            typeRoots: [types],
            paths: { react: [path.join(types, 'react')], 'react/jsx-runtime': [path.join(types, 'react/jsx-runtime')] },
          },
          include: ['*.tsx', '*.ts'],
        }),
      );
      const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(tool('typescript'), 'bin/tsc'), '-p', app.folder], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stdout + stderr);
    });
  }
});
