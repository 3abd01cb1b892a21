// A gateway with the demo agent that pages in this process belong to, and waiting for what they show.
import path from 'node:path';
import { http, start } from './server.mjs';

export const BINARY =
  process.env.TRIBUTARY_BINARY ??
  path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../../bin/tributary');
export const sleep = ms => new Promise(r => setTimeout(r, ms));

/** A gateway whose demo agent speaks fast, but for the unhurried one, and which the pages belong to from now on. */
export async function gateway(sessions = '') {
  const server = await start(BINARY, {
    yaml: `agents:\n  demo:\n    options: {pace: 4ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 12ms}\n${sessions}`,
  });
  const { visit } = await import('./browser.mjs'); // with a document, which is slow to load, and which tests in Chromium do not need
  await visit(server.base, server.token);
  const side = http(server);
  return {
    ...side,
    stop: server.stop,
    /** The records of one type in a session. */
    trace: async (id, type) =>
      (await side.get(`/api/sessions/${id}/trace`)).text
        .split('\n')
        .filter(Boolean)
        .map(l => JSON.parse(l))
        .filter(l => l.type === type),
  };
}

/** How long a test waits for what takes moments: a machine may have much else to do. */
export const PATIENCE = 60_000;

/** Waits until what() holds, and returns what it is. A sentence that tells what is seen is a function: it is asked at the end. */
export async function until(sentence, what, ms = PATIENCE) {
  for (const end = Date.now() + ms; ; ) {
    const now = what(),
      asksServer = now instanceof Promise;
    const got = await now;
    if (got) return got;
    if (Date.now() > end) throw new Error(`waited ${ms} ms in vain until ${typeof sentence === 'function' ? sentence() : sentence}`);
    await sleep(asksServer ? 100 : 25);
  }
}
