// The conversation of @tributary/chat beside a gateway whose answers come in the order of each test: what must not depend on which connection is faster.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWindow } from './lib/browser.mjs';
import { CLIENTS } from './lib/clients.mjs';
import { install, pack } from './lib/package.mjs';
import { sleep, until } from './lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const folder = fs.mkdtempSync(path.join(HERE, 'node_modules/.chat-conversation-')); // here React and the clients are found
const closeWindow = openWindow();
let tarball;
before(() => {
  tarball = pack();
});
after(async () => {
  fs.rmSync(folder, { recursive: true, force: true });
  await closeWindow();
});

const json = (body, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
const user = (id, text) => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const answer = (id, ...parts) => ({ id, role: 'assistant', parts: [{ type: 'step-start' }, ...parts] });
const text = words => ({ type: 'text', text: words, state: 'done' });
const question = {
  type: 'tool-AskUser',
  toolCallId: 'q1',
  state: 'input-available',
  input: { question_id: 'q1', question: 'Which colour?', choices: [{ label: 'green' }] },
};

/** A body that the test writes, and that says how much of it the package has taken. */
function pushed() {
  let out,
    pulls = 0;
  const body = new ReadableStream(
    {
      start(controller) {
        out = controller;
      },
      pull() {
        pulls++;
      },
    },
    { highWaterMark: 0 },
  );
  const write = data => out.enqueue(new TextEncoder().encode(data));
  return {
    body,
    write,
    fail: error => out.error(error),
    end: () => out.close(),
    chunks: (...list) => write(list.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')),
    /** Sends an event, and waits until the package asks for the next one. */
    async event(id, event) {
      await until('the package reads the events', () => pulls > 0);
      const seen = pulls;
      write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
      await until('the package has the event', () => pulls > seen);
    },
  };
}

/** A gateway that keeps each request until the test answers it. */
function script() {
  const waiting = [];
  const kinds = [
    [/\/messages/, 'history'],
    [/\/events/, 'events'],
    [/\/requests/, 'requests'],
    [/\/stream/, 'resume'],
    [/\/api\/chat\?/, 'prompt'],
    [/\/(permissions|questions)\//, 'answer'],
    [/\/stop/, 'stop'],
  ];
  return {
    fetch: (url, { signal, body } = {}) =>
      new Promise((resolve, reject) => {
        const kind = kinds.find(([address]) => address.test(url))?.[1];
        if (kind === 'requests') return resolve(json({ requests: [] }));
        const request = { kind, url, body, reply: resolve, stream: undefined };
        waiting.push(request);
        signal?.addEventListener('abort', () => {
          reject(signal.reason);
          request.stream?.fail(signal.reason);
        });
      }),
    /** The next request of a kind. */
    async next(kind) {
      const at = () => waiting.findIndex(request => request.kind === kind);
      await until(`the package asks for ${kind}; it asks for ${waiting.map(request => request.kind)}`, () => at() >= 0);
      return waiting.splice(at(), 1)[0];
    },
    asked: kind => waiting.filter(request => request.kind === kind).length,
  };
}

/** Answers a request by a stream that ends with the request. */
function follow(request, stream = pushed()) {
  request.stream = stream;
  request.reply(new Response(stream.body, { headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' } }));
  return stream;
}

/** A list of files as a browser has it: it is live, so it is empty when its field is cleared. */
globalThis.FileList = class FileList {
  constructor(files) {
    this.clear = () => {
      this.length = 0;
    };
    Object.assign(this, files, { length: files.length });
  }
};
globalThis.FileReader ??= window.FileReader;
const chosen = (...files) => new FileList(files);

/** The chunks of a whole turn. */
const turn = (id, ...parts) => [
  { type: 'start', messageId: id },
  { type: 'start-step' },
  ...parts,
  { type: 'finish-step' },
  { type: 'finish' },
];
const said = words => [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: words },
  { type: 'text-end', id: 't' },
];

for (const client of CLIENTS.filter(c => c.keepsQuery)) {
  describe(`with ai ${client.name}`, { concurrency: 5 }, () => {
    let core, Chat;
    before(async () => {
      const app = install(tarball, folder, client);
      core = await app.entry('index');
      ({ Chat } = await import(`react-${client.react}`));
    });

    const open = [];
    after(() => Promise.all(open.map(one => one.end())));
    /** A tab whose session has one turn. */
    async function tab() {
      const gateway = script(),
        transport = new core.TributaryTransport({ fetch: gateway.fetch, client: String(client.major) });
      const conversation = new core.Conversation({ id: 's', transport, create: init => new Chat(init) });
      open.push(conversation);
      const past = [user('u1', 'hello'), answer('m1', text('Hello.'))];
      conversation.open();
      (await gateway.next('history')).reply(json(past));
      const events = follow(await gateway.next('events'));
      const words = () =>
        conversation.chat.messages.map(message =>
          message.parts
            .filter(part => part.type === 'text')
            .map(part => part.text)
            .join(' '),
        );
      /** The first event has the tab read the history once more; then the tab is at rest. */
      const rest = async () => {
        await events.event(1, { type: 'session', turns: [] });
        past[1] = answer('m1', text('Hello, you.'));
        (await gateway.next('history')).reply(json(past));
        await until('the newer page is shown', () => words()[1] === 'Hello, you.');
      };
      return { gateway, conversation, events, past, words, rest };
    }

    for (const [name, state, requests] of [
      ['a request that comes while an older page of the history is on its way is shown', 'paused', ['Which colour?']],
      ['the end of a turn that comes while an older page of the history is on its way is shown', 'ended', []],
    ]) {
      test(name, async () => {
        const { gateway, conversation, events, past, words } = await tab();
        await events.event(1, { type: 'session', turns: [] });
        const page = await gateway.next('history');
        await events.event(2, { type: 'turn', turn: 't2', state: 'running', message_id: 'm2' });
        await events.event(3, { type: 'turn', turn: 't2', state, message_id: 'm2', requests: state === 'paused' ? ['q1'] : undefined });
        page.reply(json([...past, user('u2', 'ask'), answer('m2', text('I have'))]));
        (await gateway.next('history')).reply(
          json([...past, user('u2', 'ask'), answer('m2', text('I have it.'), ...(state === 'paused' ? [question] : []))]),
        );
        await until(`the whole answer is shown; the tab shows ${words()}`, () => words().at(-1) === 'I have it.');
        assert.deepEqual(
          conversation.requests().map(request => request.title),
          requests,
        );
      });
    }

    for (const [way, send] of [
      [
        'submit',
        (conversation, files) => {
          conversation.setDraft('look');
          return conversation.submit({ files });
        },
      ],
      ['sendMessage', (conversation, files) => conversation.sendMessage({ text: 'look', files })],
      ['an edit', (conversation, files) => conversation.sendMessage({ text: 'look', files, messageId: 'u1' })],
    ]) {
      test(`${way} sends the files of a field that the app clears at once`, async () => {
        const { gateway, conversation, rest } = await tab();
        await rest();
        const files = chosen(
          new window.File(['one'], 'one.txt', { type: 'text/plain' }),
          new window.File(['two'], 'two.txt', { type: 'text/plain' }),
        );
        const sent = send(conversation, files);
        files.clear();
        const prompt = await gateway.next('prompt');
        const parts = JSON.parse(prompt.body).messages.at(-1).parts;
        assert.deepEqual(
          parts.filter(part => part.type === 'file').map(part => [part.filename, part.url]),
          [
            ['one.txt', 'data:text/plain;base64,b25l'],
            ['two.txt', 'data:text/plain;base64,dHdv'],
          ],
        );
        follow(prompt).chunks(...turn('m2', ...said('I see.')));
        prompt.stream.end();
        await sent;
      });
    }

    test('submit sends nothing for an empty draft and an empty field of files', async () => {
      const { gateway, conversation, rest } = await tab();
      await rest();
      await conversation.submit({ files: chosen() });
      assert.equal(gateway.asked('prompt'), 0);
    });

    test('a page of the history from before a turn of this tab does not replace the turn', async () => {
      const { gateway, conversation, events, past, words } = await tab();
      await events.event(1, { type: 'session', turns: [] });
      const page = await gateway.next('history'),
        sent = conversation.sendMessage({ text: 'again' }),
        stream = follow(await gateway.next('prompt'));
      stream.chunks(...turn('m2', ...said('Hello again.')));
      stream.end();
      await sent;
      const shown = ['hello', 'Hello.', 'again', 'Hello again.'];
      assert.deepEqual(words(), shown);
      page.reply(json(past));
      const newer = await gateway.next('history'); // the tab has thrown the old page away
      assert.deepEqual(words(), shown);
      newer.reply(json([...past, user('u2', 'again'), answer('m2', text('Hello again.'))]));
    });

    test('a turn whose stream this tab has read to its end is not loaded again', async () => {
      const { gateway, conversation, words, rest } = await tab();
      await rest();
      const sent = conversation.sendMessage({ text: 'again' }),
        stream = follow(await gateway.next('prompt'));
      stream.chunks(...turn('m2', ...said('Hello again.')));
      stream.end();
      await sent;
      const after = await gateway.next('events'),
        later = follow(after);
      assert.match(after.url, /after=1$/);
      await later.event(2, { type: 'turn', turn: 't2', state: 'ended', message_id: 'm2', outcome: 'completed' });
      await sleep(500); // a tab that looks does so after 150 ms
      assert.equal(gateway.asked('history'), 0);
      assert.equal(words().at(-1), 'Hello again.');
    });

    test('a turn that another tab answers goes on here, though this tab has read its stream up to the question', async () => {
      const { gateway, conversation, past, words, rest } = await tab();
      await rest();
      const sent = conversation.sendMessage({ text: 'ask' }),
        stream = follow(await gateway.next('prompt'));
      stream.chunks(...turn('m2', { type: 'tool-input-available', toolCallId: 'q1', toolName: 'AskUser', input: question.input }));
      stream.end();
      await sent;
      assert.deepEqual(
        conversation.requests().map(request => request.id),
        ['q1'],
      );
      const later = follow(await gateway.next('events'));
      for (const [id, state] of [
        [2, 'running'],
        [3, 'paused'],
        [4, 'running'],
        [5, 'ended'],
      ])
        later.write(`id: ${id}\ndata: ${JSON.stringify({ type: 'turn', turn: 't2', state, message_id: 'm2' })}\n\n`);
      (await gateway.next('history')).reply(
        json([
          ...past,
          user('u2', 'ask'),
          answer('m2', { ...question, state: 'output-available', output: 'green' }, text('You chose green.')),
        ]),
      );
      await until(`the rest is shown; the tab shows ${words()}`, () => words().at(-1) === 'You chose green.');
      assert.deepEqual(conversation.requests(), []);
    });

    test('a request that was answered here leaves the screen at once, though its message comes later', async () => {
      const { gateway, conversation, rest } = await tab();
      await rest();
      const sent = conversation.sendMessage({ text: 'ask' }),
        stream = follow(await gateway.next('prompt')); // it is held open while the agent asks
      stream.chunks(
        { type: 'start', messageId: 'm2' },
        { type: 'start-step' },
        { type: 'tool-input-available', toolCallId: 'q1', toolName: 'AskUser', input: question.input },
      );
      await until('the question is shown', () => conversation.requests().length === 1);
      let shown;
      conversation.subscribe(() => {
        shown = conversation.requests().length;
      });
      const answered = conversation.answer('q1', { value: 'green' });
      (await gateway.next('answer')).reply(json({}));
      await answered;
      assert.deepEqual([conversation.requests(), shown], [[], 0], 'an answered request is still on the screen');
      stream.chunks({ type: 'tool-output-available', toolCallId: 'q1', output: 'green' }, { type: 'finish-step' }, { type: 'finish' });
      stream.end();
      await sent;
    });

    test('each component hears its own callbacks, with those of the newest rendering, until it is gone', async () => {
      const { gateway, conversation, rest } = await tab();
      await rest();
      const heard = [],
        component = name => ({
          current: { onData: part => heard.push(`${name} ${part.type}`), onFinish: () => heard.push(`${name} finish`) },
        });
      const first = component('first'),
        leave = conversation.attach(first);
      conversation.attach(component('second'));
      const ask = async (id, between = () => {}) => {
        const sent = conversation.sendMessage({ text: 'go' }),
          stream = follow(await gateway.next('prompt'));
        stream.chunks({ type: 'start', messageId: id }, { type: 'data-plan', data: {}, transient: true });
        await until('the part is heard', () => heard.length > 0);
        await between();
        stream.chunks({ type: 'finish' });
        stream.end();
        await sent;
        return heard.splice(0);
      };
      assert.deepEqual(
        await ask('m2', () => {
          first.current = component('newer').current;
        }),
        ['first data-plan', 'second data-plan', 'newer finish', 'second finish'],
      );
      assert.deepEqual(await ask('m3', leave), ['newer data-plan', 'second data-plan', 'second finish']);
    });

    test('each component may take a message that was refused; a callback that throws keeps nothing from the others', async () => {
      const { gateway, conversation, rest } = await tab();
      await rest();
      const heard = [];
      conversation.attach({
        current: {
          onRefused: () => {
            throw new Error('a fault of the app');
          },
        },
      });
      conversation.attach({ current: { onRefused: ({ message }) => heard.push(message.parts[0].text) } });
      const sent = conversation.sendMessage({ text: 'go' });
      (await gateway.next('prompt')).reply(json({ error: 'No.' }, 400));
      await sent;
      assert.deepEqual([heard, conversation.state.draft], [['go'], '']);
    });

    test('a prompt whose component has gone before it is sent still begins its session as that component said', async () => {
      const gateway = script(),
        transport = new core.TributaryTransport({ fetch: gateway.fetch, client: String(client.major) });
      const conversation = new core.Conversation({ id: 'new', transport, create: init => new Chat(init) });
      open.push(conversation);
      let begun = 0;
      const leave = conversation.attach({
        current: {
          agent: 'painter',
          onBegin: async () => {
            begun++;
          },
        },
      });
      const sent = conversation.sendMessage({ text: 'go' });
      leave();
      (await gateway.next('history')).reply(json({ error: 'There is no such session.', code: 'unknown_session' }, 404));
      const prompt = await gateway.next('prompt');
      assert.deepEqual([begun, JSON.parse(prompt.body).agent], [1, 'painter']);
      follow(prompt).chunks(...turn('m2', ...said('Here.')));
      prompt.stream.end();
      await sent;
    });

    test('sendAutomaticallyWhen of any component sends the answer that was added to a message', async () => {
      const { gateway, conversation, rest } = await tab();
      await rest();
      const sent = conversation.sendMessage({ text: 'ask' }),
        stream = follow(await gateway.next('prompt'));
      stream.chunks(...turn('m2', { type: 'tool-input-available', toolCallId: 'q1', toolName: 'AskUser', input: question.input }));
      stream.end();
      await sent;
      const answered = ({ messages }) => messages.at(-1).parts.at(-1).output === 'green';
      const add = () => conversation.chat.addToolOutput({ tool: 'AskUser', toolCallId: 'q1', output: 'green' });
      conversation.attach({ current: { sendAutomaticallyWhen: () => false } });
      const leave = conversation.attach({ current: { sendAutomaticallyWhen: client.major === 5 ? answered : async now => answered(now) } });
      void add();
      const prompt = await gateway.next('prompt');
      assert.equal(JSON.parse(prompt.body).messages.at(-1).parts.at(-1).output, 'green');
      leave();
      follow(prompt).chunks(...turn('m2', ...said('You chose green.')));
      prompt.stream.end();
    });

    test('what changes while a page of the history is on its way is read once more', async () => {
      const { gateway, events, past, words, rest } = await tab();
      await rest();
      await events.event(2, { type: 'history', to: 'u1' });
      const page = await gateway.next('history');
      await events.event(3, { type: 'history', to: 'u1' });
      page.reply(json(past));
      (await gateway.next('history')).reply(json([]));
      await until(`nothing is shown; the tab shows ${words()}`, () => words().length === 0);
    });

    test('a prompt behind a turn that runs gets its place when both have ended', async () => {
      const { gateway, conversation, past, words, rest } = await tab();
      await rest();
      const first = conversation.sendMessage({ text: 'one' }),
        stream = follow(await gateway.next('prompt'));
      const second = conversation.sendMessage({ text: 'two' }),
        queued = follow(await gateway.next('prompt'));
      for (const [turns, id, reply] of [
        [stream, 'm2', 'One.'],
        [queued, 'm3', 'Two.'],
      ]) {
        turns.chunks(...turn(id, ...said(reply)));
        turns.end();
      }
      await Promise.all([first, second]);
      (await gateway.next('history')).reply(
        json([...past, user('u2', 'one'), answer('m2', text('One.')), user('u3', 'two'), answer('m3', text('Two.'))]),
      );
      await until(`the messages are in their order; the tab shows ${words()}`, () => words().slice(2).join(' ') === 'one One. two Two.');
    });

    test('a stop lets the last words come, and does not cut the prompt that follows at once', async () => {
      const { gateway, conversation, words, rest } = await tab();
      await rest();
      const sent = conversation.sendMessage({ text: 'go' }),
        stream = follow(await gateway.next('prompt'));
      stream.chunks({ type: 'start', messageId: 'm2' }, { type: 'start-step' }, ...said('One'));
      await until('the answer has begun', () => words().at(-1) === 'One');
      const stopped = conversation.stop();
      (await gateway.next('stop')).reply(json({ turn: 't2', stopped: true }));
      stream.chunks(
        { type: 'text-start', id: 'u' },
        { type: 'text-delta', id: 'u', delta: 'and two.' },
        { type: 'text-end', id: 'u' },
        { type: 'finish-step' },
        { type: 'finish' },
      );
      stream.end();
      await sent;
      assert.equal(words().at(-1), 'One and two.');
      const again = conversation.sendMessage({ text: 'next' }),
        next = follow(await gateway.next('prompt'));
      await stopped;
      next.chunks(...turn('m3', ...said('Here.')));
      next.end();
      await again;
      assert.equal(words().at(-1), 'Here.');
    });

    test('a message is a draft again when the connection is lost, and no draft any more when the history has it after all', async () => {
      const { gateway, conversation, past, words, rest } = await tab();
      await rest();
      const sent = conversation.sendMessage({ text: 'go' }),
        lost = await gateway.next('prompt'),
        { id } = conversation.chat.messages.at(-1);
      lost.reply(Promise.reject(new TypeError('fetch failed')));
      await sent;
      assert.deepEqual([conversation.state.draft, words().at(-1)], ['go', 'Hello, you.']);
      (await gateway.next('history')).reply(json([...past, user(id, 'go'), answer('m2', text('Gone.'))]));
      await until('the draft is gone', () => conversation.state.draft === '');
      assert.deepEqual(words().slice(-2), ['go', 'Gone.']);
    });

    test('a turn whose stream breaks off twice is read to its end', async () => {
      const { gateway, conversation, past, words, rest } = await tab();
      await rest();
      const begun = { type: 'start', messageId: 'm2' },
        half = [...past, user('u2', 'go'), answer('m2', text('One'))];
      const sent = conversation.sendMessage({ text: 'go' });
      for (const kind of ['prompt', 'resume']) {
        const stream = follow(await gateway.next(kind));
        stream.chunks(begun, { type: 'start-step' }, ...said('One'));
        await until('the answer has begun', () => words().at(-1) === 'One');
        stream.fail(new TypeError('terminated'));
        follow(await gateway.next('events')); // which says nothing: that the turn runs was told before
        (await gateway.next('history')).reply(json(half));
      }
      const last = follow(await gateway.next('resume'));
      last.chunks(...turn('m2', ...said('One, two.')));
      last.end();
      await sent;
      await until(`the whole answer is shown; the tab shows ${words()}`, () => words().at(-1) === 'One, two.');
      assert.equal(words().length, 4);
    });

    test('a turn that ends while its stream is cut is not played once more: the history has it', async () => {
      const { gateway, conversation, past, words, rest } = await tab();
      await rest();
      const sent = conversation.sendMessage({ text: 'go' }),
        stream = follow(await gateway.next('prompt'));
      stream.chunks({ type: 'start', messageId: 'm2' }, { type: 'start-step' }, ...said('One'));
      await until('the answer has begun', () => words().at(-1) === 'One');
      stream.fail(new TypeError('terminated'));
      const whole = () => json([...past, user('u2', 'go'), answer('m2', text('One, two.'))]);
      (await gateway.next('history')).reply(whole());
      const resume = await gateway.next('resume');
      assert.match(resume.url, /[?&]ended=0(&|$)/);
      resume.reply(new Response(null, { status: 204 }));
      (await gateway.next('history')).reply(whole());
      await sent;
      await until(`the whole answer is shown; the tab shows ${words()}`, () => words().at(-1) === 'One, two.');
      assert.equal(words().length, 4);

      const alone = conversation.transport.reconnectToStream({ chatId: 's' }), // a chat without a conversation reads no history
        asked = await gateway.next('resume');
      assert.doesNotMatch(asked.url, /ended/);
      asked.reply(new Response(null, { status: 204 }));
      assert.equal(await alone, null);
    });

    test('an earlier page that comes after the history has begun anew is not shown above it', async () => {
      const { gateway, conversation, events, words } = await tab();
      await events.event(1, { type: 'session', turns: [] });
      const page = body =>
        new Response(JSON.stringify(body), { headers: { link: `</api/sessions/s/messages?before=${body[0].id}>; rel="prev"` } });
      (await gateway.next('history')).reply(page([user('u5', 'five')]));
      await until('there are earlier messages', () => conversation.state.more);
      const loading = conversation.earlier(),
        earlier = await gateway.next('history');
      await events.event(2, { type: 'history', to: 'u5' });
      const newest = await gateway.next('history');
      newest.reply(page([user('u9', 'nine')]));
      await until('the newest page is shown', () => words().join() === 'nine');
      earlier.reply(page([user('u4', 'four')]));
      await loading;
      assert.deepEqual(words(), ['nine'], 'five and what came after it are missing between four and nine');
    });
  });
}
