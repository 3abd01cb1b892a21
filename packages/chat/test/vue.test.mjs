// useTributaryChat for Vue, without a page: what changes when its options do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { effectScope, shallowRef } from 'vue';
import { TributaryTransport } from '../dist/index.js';
import { endConversations, useTributaryChat } from '../dist/vue.js';

before(() => {
  globalThis.window = new EventTarget();
});
after(() => {
  delete globalThis.window;
});

const history = { a: 'in a', b: 'in b' };
const fetch = async url => {
  const [, id] = /sessions\/(\w+)\//.exec(url) ?? [];
  if (/\/messages/.test(url))
    return new Response(JSON.stringify([{ id: `u-${id}`, role: 'user', parts: [{ type: 'text', text: history[id] }] }]));
  return new Response('{"error":"Not here.","code":"x"}', { status: 403 });
};
const settled = async () => {
  for (let i = 0; i < 50; i++)
    await new Promise(resolve => {
      setImmediate(resolve);
    });
};
const texts = chat => chat.messages.value.map(m => m.parts[0].text);

/** The hook in a component of its own. */
function component(options) {
  const scope = effectScope();
  return { chat: scope.run(() => useTributaryChat(options)), leave: () => scope.stop() };
}

test('another id shows another conversation, with a draft of its own; each id keeps its draft', async () => {
  const transport = new TributaryTransport({ fetch, client: '7' }),
    id = shallowRef('a'),
    { chat, leave } = component(() => ({ id: id.value, transport }));
  await settled();
  assert.deepEqual([chat.id.value, texts(chat), chat.loading.value], ['a', ['in a'], false]);
  chat.draft.value = 'for a';
  id.value = 'b';
  assert.equal(chat.loading.value, true);
  await settled();
  assert.deepEqual([chat.id.value, texts(chat), chat.draft.value], ['b', ['in b'], '']);
  id.value = 'a';
  assert.deepEqual([texts(chat), chat.draft.value], [['in a'], 'for a']);
  chat.setMessages(now => [...now, ...now]);
  assert.equal(chat.messages.value.length, 2);
  leave();
  await endConversations(transport);
});

test('callbacks are those of now, and end with the component', async () => {
  const transport = new TributaryTransport({ fetch, client: '7' }),
    heard = [],
    name = shallowRef('one');
  const first = component(() => ({ id: 'a', transport, onRefused: () => heard.push(name.value) })),
    second = component({ id: 'a', transport, onRefused: () => heard.push('second') });
  await settled();
  const refused = async () => {
    await first.chat.sendMessage({ text: 'x' });
    await settled();
    return heard.splice(0);
  };
  assert.deepEqual(await refused(), ['one', 'second']);
  name.value = 'newer';
  second.leave();
  assert.deepEqual(await refused(), ['newer']);
  assert.deepEqual([first.chat.error.value.message, first.chat.draft.value], ['Not here.', '']);
  first.leave();
  await endConversations(transport);
});

test('throttle bounds how often messages change', { timeout: 5000 }, async () => {
  const transport = new TributaryTransport({ fetch, client: '7' }),
    { chat, leave } = component({ id: 'a', transport, throttle: 40 });
  const seen = new Set();
  for (let i = 0; i < 100; i++) {
    chat.setMessages([{ id: `m${i}`, role: 'user', parts: [{ type: 'text', text: String(i) }] }]);
    seen.add(chat.messages.value);
  }
  assert.equal(seen.size, 1, 'the list changed with each message');
  while (texts(chat)[0] !== 'in a')
    await new Promise(resolve => {
      setTimeout(resolve, 10);
    }); // the newest one comes, a moment later
  leave();
  await endConversations(transport);
});
