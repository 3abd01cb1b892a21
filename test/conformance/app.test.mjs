// Runs the chats that docs/guides/ shows, as they stand there, with real clients against the real gateway, and presses their buttons; and the
// client of docs/agents/agent-ops.md, with a second gateway in the place of the session agent.
// evidence: promise-disconnect promise-tabs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createElement } from 'react';
import { startAgentOps } from './lib/agentops.mjs';
import { cutAfter, drop, holdResume, openWindow, refusePost, requests, visit } from './lib/browser.mjs';
import { CLIENTS } from './lib/clients.mjs';
import { block, blocks, followed, GUIDES, load, ROOT, unused } from './lib/page.mjs';
import { http, start } from './lib/server.mjs';
import { BINARY, gateway, sleep, until } from './lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.app-')); // here the clients are found
const closeWindow = openWindow();
const { createRoot } = await import('react-dom/client'); // it looks for the window when it is loaded
const closed = [];
after(async () => {
  fs.rmSync(built, { recursive: true, force: true });
  await closeWindow();
});

// What an app has that follows these pages; of two files with one name the later counts.
const SMALL = ['guides/react-by-hand.md'],
  ASKING = [...SMALL, 'guides/approvals.md'];
const FULL = [...ASKING, 'guides/resume-and-tabs.md', 'guides/edit.md'];
const FIVE = [...ASKING, 'guides/ai-sdk-5.md'],
  USERS = [...ASKING, 'guides/users.md'];
/** A button of its own in the place of the component Approval. */
const BESIDE = {
  "{ Approval } from './approval'": "{ AlwaysAllow } from './always-allow'",
  '<Approval part={part}': '<AlwaysAllow request={part.approval.id}',
};

/** A page that is loaded: what a person sees of it, and what they do. */
function mount(Page, id, more) {
  const place = document.body.appendChild(document.createElement('div'));
  const root = createRoot(place);
  root.render(createElement(Page, { id, ...more }));
  const buttons = () => [...place.querySelectorAll('button')];
  const page = {
    get text() {
      return place.textContent;
    },
    has: name => buttons().some(b => b.textContent === name && !b.disabled),
    shows: words =>
      until(
        () => `the page shows ${JSON.stringify(words)}; it shows ${JSON.stringify(place.textContent.slice(0, 600))}`,
        () => place.textContent.includes(words),
      ),
    async press(name) {
      await until(
        () => `there is a button ${name}; the page shows ${JSON.stringify(place.textContent.slice(0, 600))}`,
        () => page.has(name),
      );
      buttons()
        .findLast(b => b.textContent === name)
        .click();
    },
    async say(text) {
      const form = await until('there is a form', () => place.querySelector('form'));
      await write(form.elements.text, text);
      form.dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
    },
    fill: async (selector, text) => write(await until(`there is ${selector}`, () => place.querySelector(selector)), text),
    articles: () => [...place.querySelectorAll('article')],
    input: () => place.querySelector('input'),
    alert: () => place.querySelector('[role=alert]')?.textContent,
    /** The page is gone, without a word. */
    leave() {
      drop(id);
      root.unmount();
      place.remove();
    },
  };
  closed.push(() => root.unmount());
  return page;
}

/** Types into a field as a browser does, so that React hears of it. */
async function write(field, text) {
  Object.getOwnPropertyDescriptor(field.constructor.prototype, 'value').set.call(field, text);
  field.dispatchEvent(new window.Event('input', { bubbles: true }));
  await sleep(10);
}

const site = { now: null };
const trace = (id, type) => site.now.trace(id, type);
const history = id => site.now.history(id);
const resumes = id => requests(id).filter(r => /\/stream(\?|$)/.test(r.path));
const posts = id => requests(id).filter(r => r.method === 'POST' && r.path.startsWith('/api/chat')).length;
async function end() {
  for (const close of closed.splice(0)) close();
  await site.now.stop();
}

/** The turn is over, with this outcome, after so many POSTs, and the client does not ask again. */
async function over(id, outcome, count) {
  await until(`the turn is ${outcome}`, async () => (await trace(id, 'stop')).at(-1)?.payload.outcome === outcome);
  await sleep(100);
  assert.equal(posts(id), count, 'POSTs');
}

const ENDLESS = 'slow 10000'; // only a stop ends it in time, however busy the machine is
const SLOW = 'slow'; // a script of the demo agent, a hundred words in six seconds: it ends by itself, and time is left to load the page again
const text = message =>
  message.parts
    .filter(p => p.type === 'text')
    .map(p => p.text)
    .join('');
const newest = CLIENTS.filter(c => c.keepsQuery && c.major !== 5);

const five = CLIENTS.findLast(c => c.major === 5);

describe('the chat', { concurrency: true }, () => {
  before(async () => {
    site.now = await gateway('sessions:\n  grace: 1m\n  grace_limit: 5m\n');
  });
  after(end);

  for (const client of newest) {
    describe(`with ai ${client.name}`, { concurrency: 8 }, () => {
      let Page, Small, Beside, SmallBeside;
      before(async () => {
        [Page, Small, Beside, SmallBeside] = (
          await Promise.all([
            load(FULL, 'chat.tsx', client, built),
            load(SMALL, 'chat.tsx', client, built),
            load(FULL, 'chat.tsx', client, built, BESIDE),
            load(ASKING, 'chat.tsx', client, built, BESIDE),
          ])
        ).map(m => m.Chat);
      });
      const open = (id = randomUUID(), as = Page) => Object.assign(mount(as, id), { id });
      /** A page with resume: true, which has asked for the turn that runs. */
      const openSmall = async (id = randomUUID(), as = Small) => {
        const page = open(id, as),
          asked = resumes(id).length;
        await until('the page has asked', () => resumes(id).length > asked && !resumes(id).at(-1).open);
        await sleep(50);
        return page;
      };
      /** A page whose turns take long enough to do something meanwhile, on a busy machine too. */
      const openUnhurried = async () => {
        const id = randomUUID();
        await site.now.post('/api/sessions', { id, agent: 'unhurried' });
        return open(id);
      };

      for (const [button, record, heard, prepare] of [
        ['Allow', { chosen_option: 'allow' }, 'I was allowed to run it: echo hello'],
        ['Always allow', { chosen_option: 'always', option_kind: 'allow_always' }, 'I am always allowed to run it'],
        [
          'Allow with this input',
          { chosen_option: 'allow', updated_input: { command: 'echo edited' } },
          'I was allowed to run it: echo edited',
          page => page.fill('textarea', '{"command":"echo edited"}'),
        ],
        [
          'Deny',
          { chosen_option: 'deny', reason: 'not today' },
          'I did not run the command: not today.',
          page => page.fill('[placeholder=Reason]', 'not today'),
        ],
      ]) {
        test(`approval: ${button}`, async () => {
          const page = open();
          await page.say('approve');
          await page.shows('Always allow');
          await prepare?.(page);
          await page.press(button);
          await page.shows(heard);
          await over(page.id, 'completed', 2);
          const [given] = await trace(page.id, 'permission_response');
          assert.deepEqual(Object.fromEntries(Object.keys(record).map(k => [k, given.payload[k]])), record);
          await until('the same message goes on', () => page.articles().length === 2);
          assert.equal(page.alert(), undefined);
        });
      }

      test('approval: Deny and stop', async () => {
        const page = open();
        await page.say('approve');
        await page.press('Deny and stop');
        await over(page.id, 'canceled', 2);
        await page.say('hello');
        await until('the next prompt has its answer', async () => (await history(page.id)).length === 4);
      });

      for (const [where, mountIt] of [
        ['that follows the session', () => open(undefined, Beside)],
        ['with resume: true', () => openSmall(undefined, SmallBeside)],
      ]) {
        test(`approval: by a request of its own, in a page ${where}`, async () => {
          const page = await mountIt();
          await page.say('approve');
          await page.press('Always allow this');
          await page.shows('I am always allowed to run it');
          await over(page.id, 'completed', 1);
          assert.equal((await trace(page.id, 'permission_response'))[0].payload.chosen_option, 'always');
          await until('nothing is shown twice', () => page.text.split('I would like to run a command.').length === 2);
        });
      }

      for (const [typed, heard, count] of [
        ['yes', 'I was allowed to run it: echo hello', 1],
        ['deny', 'I did not run the command', 1],
      ]) {
        test(`approval: the user types ${typed}`, async () => {
          const page = open();
          await page.say('approve');
          await until('a person is asked', () => page.has('Allow'));
          await page.say(typed);
          await page.shows(heard);
          await until('the turn is over', async () => (await trace(page.id, 'stop')).length === count);
        });
      }

      test('approval: the user types something else', async () => {
        const page = open();
        await page.say('approve');
        await until('a person is asked', () => page.has('Allow'));
        await page.say('tool');
        await until(
          'the new prompt has run',
          async () => (await trace(page.id, 'stop')).map(s => s.payload.outcome).join() === 'canceled,completed',
        );
        assert.deepEqual(
          (await trace(page.id, 'permission_response')).map(r => r.payload.chosen_option),
          ['deny'],
        );
      });

      test('approval: after a reload', async () => {
        const page = open();
        await page.say('approve');
        await until('a person is asked', () => page.has('Allow'));
        page.leave();
        const again = open(page.id);
        await again.press('Allow');
        await again.shows('I was allowed to run it: echo hello');
        await over(page.id, 'completed', 2);
      });

      test('question: a choice', async () => {
        const page = open();
        await page.say('ask');
        await page.press('green');
        await page.shows('You chose green.');
        await over(page.id, 'completed', 2);
        await until('the same message goes on', () => page.articles().length === 2);
      });

      test('question: skipped', async () => {
        const page = open();
        await page.say('ask');
        await page.press('Skip');
        await page.shows('Nobody answered, so I take no colour.');
        await over(page.id, 'completed', 2);
      });

      test('question: the user types', async () => {
        const page = open();
        await page.say('ask');
        await until('a person is asked', () => page.has('green'));
        await page.say('rather violet');
        await page.shows('You chose rather violet.');
        await until('the rest comes below the answer', () => page.articles().length === 4);
      });

      test('stop', async () => {
        const page = await openUnhurried();
        await page.say(ENDLESS);
        await until('words come', () => page.articles()[1]?.textContent.length > 40);
        await page.press('Stop');
        await over(page.id, 'canceled', 1);
        assert.equal((await trace(page.id, 'stop'))[0].payload.reason, 'stopped');
        await until('the button is gone', () => !page.has('Stop'));
      });

      test('stop, after a reload', async () => {
        const page = await openUnhurried();
        await page.say(ENDLESS);
        await until('words come', () => page.articles()[1]?.textContent.length > 40);
        page.leave();
        const again = open(page.id);
        await again.press('Stop');
        await over(page.id, 'canceled', 1);
        assert.equal((await trace(page.id, 'stop'))[0].payload.reason, 'stopped');
        await until('the button is gone', () => !again.has('Stop'));
      });

      test('reload in the middle of a turn', async () => {
        const page = await openUnhurried();
        await page.say(ENDLESS);
        await until('words come', () => page.articles()[1]?.textContent.length > 40);
        page.leave();
        const again = open(page.id);
        await until('the turn is on the screen again', () => again.articles()[1]?.textContent.length > 40);
        await site.now.post(`/api/chat/${page.id}/stop`);
        await over(page.id, 'canceled', 1);
        assert.deepEqual(
          resumes(page.id).map(r => r.status),
          [200],
          'it is resumed once',
        );
        const said = text((await history(page.id))[1]);
        await until('all of it is shown, once', () => again.articles()[1]?.querySelector('p')?.textContent === said);
        await until('one prompt and one answer are shown', () => again.articles().length === 2);
      });

      test('resume: true', async () => {
        const page = await openUnhurried();
        await page.say(SLOW);
        await until('words come', () => page.articles()[1]?.textContent.length > 40);
        page.leave();
        const again = open(page.id, Small);
        await over(page.id, 'completed', 1);
        const said = text((await history(page.id))[1]);
        await until('all of it is shown, once', () => again.articles()[1]?.textContent === said);
      });

      test('resume: true, and an approval after a reload', async () => {
        const page = await openSmall();
        await page.say('approve');
        await until('a person is asked', () => page.has('Allow'));
        page.leave();
        const again = await openSmall(page.id);
        await again.press('Deny');
        await again.shows('I did not run the command');
        await over(page.id, 'completed', 2);
      });

      test('a second tab sees the turn, and answers for the first', async () => {
        const first = open();
        await first.say('hello');
        await over(first.id, 'completed', 1);
        const second = open(first.id);
        await until('the second tab shows the history', () => second.articles().length === 2);
        await first.say('approve');
        await second.press('Allow');
        await second.shows('I was allowed to run it: echo hello');
        await first.shows('I was allowed to run it: echo hello');
        const shown = page => page.articles().map(a => a.textContent);
        await until('both show the same', () => shown(first).join() === shown(second).join());
        await until('no more than two prompts and two answers are shown', () => shown(first).length === 4);
      });

      test('again, and edit', async () => {
        const page = open();
        await page.say('hello');
        await over(page.id, 'completed', 1);
        const [, was] = await history(page.id);
        await page.press('Again');
        await until('the second turn is over', async () => (await trace(page.id, 'stop')).length === 2);
        await over(page.id, 'completed', 2);
        const [, is] = await until('there is another answer', async () => {
          const h = await history(page.id);
          return h[1]?.id !== was.id && h;
        });
        assert.notEqual(is.id, was.id);
        await page.press('Edit');
        await page.fill('[name=edit]', 'tool');
        await page.press('Save');
        await page.shows('read_file: output-available');
        assert.deepEqual(
          (await history(page.id)).map(m => m.role),
          ['user', 'assistant'],
        );
        assert.equal((await trace(page.id, 'rewind')).length, 2);
      });

      test('a failure is a sentence', async () => {
        const page = open();
        await page.say('error');
        await until('there is an alert', () => page.alert());
        const failed = await until('the history has it', async () =>
          (await history(page.id)).at(-1)?.parts.find(p => p.type === 'data-error'),
        );
        assert.equal(page.alert(), failed.data.message);
        const again = open(page.id);
        await again.shows(failed.data.message);
        await page.press('Try again');
        await until('it was tried again', async () => (await trace(page.id, 'stop')).length === 2);
        assert.equal((await history(page.id)).length, 2, 'in the place of the first turn');
      });

      test('a prompt that did not reach the gateway is sent again', async () => {
        const page = await openSmall();
        refusePost(page.id);
        await page.say('hello');
        await until('there is an alert', () => page.alert()?.startsWith('Failed to fetch'));
        assert.deepEqual((await site.now.get(`/api/sessions/${page.id}/messages`)).status, 404);
        await page.press('Try again');
        await over(page.id, 'completed', 2);
        await until('a prompt and an answer are shown', () => page.articles().length === 2 && !page.alert());
      });

      test('a lost connection is taken up again', async () => {
        const id = randomUUID();
        await site.now.post('/api/sessions', { id, agent: 'unhurried' });
        const page = await openSmall(id);
        cutAfter(id, 2000);
        await page.say(SLOW);
        await until('there is an alert', () => page.alert()?.startsWith('network error'));
        await page.press('Try again');
        await over(id, 'completed', 1);
        const said = text((await history(id))[1]);
        await until('all of it is shown, once', () => page.articles()[1]?.textContent === said && !page.alert());
      });
    });
  }

  describe(`with ai ${five.name}`, { concurrency: true }, () => {
    let Chat;
    before(async () => {
      ({ Chat } = await load(FIVE, 'chat.tsx', five, built));
    });

    for (const [button, record, outcome] of [
      ['Always allow', { chosen_option: 'always', option_kind: 'allow_always' }, 'completed'],
      ['Deny and stop', { chosen_option: 'deny', reason: 'not now', interrupt: true }, 'canceled'],
    ]) {
      test(`approval: ${button}`, async () => {
        const id = randomUUID(),
          page = mount(Chat, id);
        await until('the page has asked for a turn', () => resumes(id).some(r => r.status === 204));
        await sleep(50);
        await page.say('approve');
        await page.press(button);
        await over(id, outcome, 2);
        const [given] = await trace(id, 'permission_response');
        assert.deepEqual(Object.fromEntries(Object.keys(record).map(k => [k, given.payload[k]])), record);
      });
    }

    test('question: after a reload', async () => {
      const id = randomUUID(),
        page = mount(Chat, id);
      await until('the page has asked for a turn', () => resumes(id).some(r => r.status === 204));
      await sleep(50);
      await page.say('ask');
      await until('a person is asked', () => page.has('green'));
      page.leave();
      const asked = resumes(id).length,
        release = holdResume(id),
        again = mount(Chat, id);
      await until(
        'the page asks for a turn, and shows the question',
        () => resumes(id).length > asked && again.text.includes('Which colour?'),
      );
      assert.ok(!again.has('green'), 'nobody can answer meanwhile: this client would keep the answer');
      release();
      await again.press('green');
      await again.shows('You chose green.');
    });
  });
});

describe('the chat of a user with a token', () => {
  const client = newest.at(-1),
    secret = randomUUID() + randomUUID();
  const sign = (claims, head = { alg: 'HS256' }) => {
    const text = [head, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const token = sub => sign({ sub, name: sub, aud: 'tributary', exp: Math.floor(Date.now() / 1000) + 600 });
  let tokens;
  before(async () => {
    const server = await start(BINARY, {
      auth: 'jwt',
      env: { ...process.env, TRIBUTARY_SECRET: secret },
      yaml: block('guides/users.md', 'tributary.yaml'),
    });
    await visit(server.base); // no proxy adds a token
    site.now = { ...http({ base: server.base, token: token('ada') }), stop: server.stop };
    tokens = createServer((_, response) => response.end(token('ada'))).listen(0, '127.0.0.1');
    await new Promise(done => tokens.once('listening', done));
  });
  after(async () => {
    await end();
    tokens.close();
  });

  test('approves, reloads, and is alone with their session', async () => {
    const { Chat } = await load(USERS, 'chat.tsx', client, built, {
      'https://agents.example.com': site.now.base,
      "'/token'": `'http://127.0.0.1:${tokens.address().port}'`,
    });
    const id = randomUUID(),
      page = mount(Chat, id);
    await until('the page has asked for a turn', () => resumes(id).some(r => r.status === 204));
    await sleep(50);
    await page.say('approve');
    await until('a person is asked', () => page.has('Allow'));
    page.leave();
    const again = mount(Chat, id);
    await again.press('Allow');
    await again.shows('I was allowed to run it: echo hello');
    assert.equal((await http({ base: site.now.base, token: token('bob') }).get(`/api/sessions/${id}/messages`)).status, 404);
    const left = http({ base: site.now.base, token: sign({ sub: 'ada', aud: 'tributary', exp: 1 }) });
    assert.equal((await left.get(`/api/sessions/${id}/messages`)).status, 401);
  });
});

describe('the chat where streams are held open', () => {
  const client = newest[0];
  let Page;
  before(async () => {
    site.now = await gateway('sessions:\n  approval: hold\n');
    ({ Chat: Page } = await load(FULL, 'chat.tsx', client, built));
  });
  after(end);

  test('an answer beside the chat: the rest comes on the same stream', async () => {
    const { answerRequest } = await load(FULL, 'api.ts', client, built);
    const id = randomUUID(),
      page = mount(Page, id);
    await page.say('approve');
    await until('a person is asked', () => page.has('Allow'));
    const [asked] = await until('the trace has the request', async () => {
      const all = await trace(id, 'permission_request');
      return all.length === 1 && all;
    });
    await answerRequest(id, asked.payload.request_id, { option: 'always' });
    await page.shows('I am always allowed to run it');
    await over(id, 'completed', 1);
    assert.deepEqual(resumes(id), [], 'nothing was resumed');
  });
});

describe('the client of the RFC, as docs/agents/agent-ops.md has it', () => {
  before(async () => {
    const { far, stop, ...near } = await startAgentOps(BINARY, { yaml: 'sessions:\n  on_disconnect: stop\n' });
    await visit(near.base); // without a cookie: the client brings its token
    site.now = { ...http(near), far, stop };
  });
  after(end);

  for (const client of CLIENTS) {
    describe(`with ai ${client.name}`, { concurrency: true }, () => {
      let Session;
      before(async () => {
        ({ Session } = await load('agents/agent-ops.md', 'session.jsx', client, built));
      });
      /** A page on a session that is there on both sides. */
      const open = async (token = site.now.token) => {
        const id = randomUUID();
        for (const [side, body] of [
          [site.now.far, { id, agent: 'demo' }],
          [site.now, { id }],
        ])
          assert.equal((await side.post('/api/sessions', body)).status, 201);
        return Object.assign(mount(Session, id, { token }), { id });
      };
      const sent = id =>
        requests(id)
          .filter(r => r.method === 'POST' && r.path.endsWith('/chat'))
          .map(r => r.path);
      const stops = async (id, side = site.now) =>
        (await side.get(`/api/sessions/${id}/trace`)).text
          .split('\n')
          .filter(Boolean)
          .map(l => JSON.parse(l))
          .filter(l => l.type === 'stop')
          .map(l => l.payload);

      test('B17_H17: text and tools are shown, and the next prompt is of the same session', async () => {
        const page = await open();
        await page.say('tool');
        await page.shows('read_file: output-available "Hello from the demo.\\n"');
        await page.shows('The file says: Hello from the demo.');
        await until('it may be typed again', () => !page.input().disabled);
        await page.say('remember');
        await page.shows('Before this you said:');
        await until('both are over', async () => (await stops(page.id)).length === 2);
        assert.deepEqual(sent(page.id), Array(2).fill(`/api/sessions/${page.id}/chat`));
        assert.equal(page.alert(), undefined);
      });

      test('B17_G05_H18: nothing can be typed while it streams, and stop() stops the turn there', async () => {
        const page = await open();
        await page.say('long');
        await until('words come', () => page.articles()[1]?.textContent.length > 40);
        assert.ok(page.input().disabled);
        await page.press('Stop');
        await until('it may be typed again', () => !page.input().disabled);
        await until('the turn is canceled there', async () => (await stops(page.id, site.now.far))[0]?.outcome === 'canceled');
        assert.equal(page.alert(), undefined);
      });

      test('A10_H21: a failure is shown, and tried again', async () => {
        const page = await open();
        await page.say('error');
        await until('there is an alert', () => page.alert());
        const [failed] = await until('it has failed', async () => {
          const all = await stops(page.id);
          return all.length === 1 && all;
        });
        assert.ok(page.alert().startsWith(failed.error), page.alert());
        await page.press('Retry');
        await until('it was tried again', async () => (await stops(page.id)).length === 2);
      });

      test('B05_H19: who is not let in reads why', async () => {
        const page = await open('wrong');
        await page.say('hello');
        await until('there is an alert', () => page.alert());
        assert.match(page.alert(), /^The token is not valid here/);
        assert.deepEqual(await stops(page.id), []);
      });
    });
  }
});

describe('the guides', () => {
  const flat = text => text.replace(/\s+/g, ' ').trim();
  for (const page of GUIDES) {
    for (const { name, from, language, code } of blocks(page)) {
      if (from)
        test(`${page}: a block stands in ${from}`, () =>
          assert.ok(flat(fs.readFileSync(path.join(ROOT, from), 'utf8')).includes(flat(code)), code));
      if (language !== 'yaml' || page === 'guides/evals.md') continue;
      test(`${page}: ${name} is a configuration`, () => {
        const file = path.join(built, name);
        fs.writeFileSync(file, block(page, name));
        execFileSync(BINARY, ['config', 'check', '--config', file], {
          env: { ...process.env, TRIBUTARY_SECRET: 'x'.repeat(32), LANGFUSE_AUTH: 'Basic eDp4' },
          stdio: 'pipe',
        });
      });
    }
  }
  test('README.md has the chat of the quickstart', () => assert.equal(block('README.md', 'chat.tsx'), block('quickstart.md', 'chat.tsx')));
  test('every other block is run, here, by first-use, by observability.test.mjs or by internal/cli/evalguide_test.go', () =>
    assert.deepEqual(
      unused(GUIDES).filter(b => !followed(b) && !/^guides\/(observability|evals)\.md /.test(b)),
      [],
    ));
});
