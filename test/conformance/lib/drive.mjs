// One face for the two ways an app holds a chat: the Chat class, and the useChat hook in a rendered component.
import { createElement, useEffect, useState } from 'react';
import { PATIENCE } from './site.mjs';

export const WAYS = ['chat', 'hook'];
const sleep = ms => new Promise(r => setTimeout(r, ms));

/** Opens a chat of this client. init is what the app would pass; undefined means no options at all. */
export const open = (client, way, init) => (way === 'hook' ? openHook(client, init) : openChat(client, init));

function openChat(client, init) {
  const chat = new client.sdk.Chat(init ?? {});
  const watchers = new Set();
  chat['~registerMessagesCallback'](() => {
    for (const w of watchers) w(chat);
  });
  return face({
    look: () => chat,
    watchers,
    drawn: async () => {},
    close: async () => {
      await chat.stop();
    },
  });
}

function App({ sdk, init, onRender, onDrawn }) {
  const [tick, setTick] = useState(0);
  const chat = init === undefined ? sdk.useChat() : sdk.useChat(init);
  useEffect(() => onDrawn(), [tick, onDrawn]);
  onRender(chat, () => setTick(n => n + 1));
  return createElement('output', null, chat.status);
}

async function openHook(client, init) {
  const { createRoot } = await import('react-dom/client');
  const watchers = new Set(),
    waiting = [];
  let current,
    crash,
    mounted = false,
    nudge;
  const root = createRoot(document.createElement('div'), {
    onUncaughtError: e => {
      crash = e;
    },
  });
  root.render(
    createElement(App, {
      sdk: client.sdk,
      init,
      onRender: (chat, redraw) => {
        current = chat;
        nudge = redraw;
        for (const w of watchers) w(chat);
      },
      onDrawn: () => {
        mounted = true;
        for (const done of waiting.splice(0)) done();
      },
    }),
  );
  for (let i = 0; !mounted && !crash && i < 2000; i++) await sleep(2);
  if (crash) throw crash;
  return face({
    look: () => {
      if (crash) throw crash;
      return current;
    },
    watchers,
    // React draws when it finds time: an update of our own is drawn after all that were asked for before it.
    drawn: () =>
      new Promise(done => {
        waiting.push(done);
        nudge();
      }),
    close: async () => {
      await current.stop();
      await sleep(5);
      root.unmount();
    },
  });
}

function face({ look, watchers, drawn, close }) {
  const pending = new Set();
  const track = p => {
    const q = Promise.resolve(p)
      .catch(() => {})
      .finally(() => pending.delete(q));
    pending.add(q);
    return q;
  };
  const face = {
    get id() {
      return look().id;
    },
    get messages() {
      return look().messages;
    },
    get status() {
      return look().status;
    },
    get error() {
      return look().error;
    },
    get last() {
      return look().messages.at(-1);
    },
    /** What the person does; each returns at once, settled() waits for what follows. */
    send: (text, more, options) => {
      void track(look().sendMessage(text === undefined ? undefined : { text, ...more }, options));
    },
    regenerate: o => {
      void track(look().regenerate(o));
    },
    /** What an app's own code does to the screen: setMessages of the hook, messages of the Chat class. */
    set: messages => {
      const c = look();
      if (c.setMessages) c.setMessages(messages);
      else c.messages = messages;
    },
    resume: () => {
      void track(look().resumeStream());
    },
    answer: o => {
      void track((look().addToolOutput ?? look().addToolResult)(o));
    }, // its name in 5.0.0
    approve: o => track(look().addToolApprovalResponse(o)),
    stop: () => look().stop(),
    /** What an app's own code holds: the same four in both ways. */
    held: () => ({
      status: look().status,
      messages: look().messages,
      setMessages: change => {
        if (look().setMessages) look().setMessages(change);
        else look().messages = change(look().messages);
      },
      resumeStream: () => track(look().resumeStream()),
    }),
    /** Calls fn with the chat at every change the Chat class makes, or at every render of the hook. */
    watch: fn => {
      watchers.add(fn);
    },
    /** Waits until what() holds, or fails after ms. */
    async until(sentence, what, ms = PATIENCE) {
      for (const end = Date.now() + ms; ; ) {
        if (what(face)) return;
        if (Date.now() > end)
          throw new Error(
            `waited ${ms} ms in vain until ${sentence}; status ${face.status}${face.error ? `, error ${face.error.message}` : ''}`,
          );
        await sleep(5);
      }
    },
    /** Waits until every request of this chat is over and the screen shows its end. */
    async settled(ms = PATIENCE) {
      const end = Date.now() + ms;
      for (let calm = 0; calm < 2; ) {
        if (Date.now() > end) throw new Error(`the chat did not settle within ${ms} ms; status ${face.status}`);
        await sleep(5);
        if (pending.size === 0) await drawn();
        calm = pending.size === 0 && (face.status === 'ready' || face.status === 'error') ? calm + 1 : 0;
      }
    },
    close,
  };
  return face;
}
