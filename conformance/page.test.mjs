// Renders messages and the list of sessions with the components of the gateway's own page, web/src.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { build } from 'esbuild';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { renderToStaticMarkup } from 'react-dom/server';
import { openWindow, visit } from './lib/browser.mjs';
import { http, start } from './lib/server.mjs';
import { BINARY, until } from './lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.page-'));
after(() => fs.rmSync(built, { recursive: true, force: true }));
/** Builds a module that is written among the page's own, and imports it. */
async function load(name, contents) {
  const outfile = path.join(built, `${name}.mjs`);
  await build({
    stdin: { contents, resolveDir: path.join(HERE, '../web/src'), loader: 'tsx' }, outfile, bundle: true, format: 'esm', jsx: 'automatic', logLevel: 'silent',
    plugins: [{ name: 'one react', setup: b => b.onResolve({ filter: /^react/ }, ({ path: name }) => ({ path: name, external: true })) }],
  });
  return import(outfile);
}
const { Message } = await load('message', `export { Message } from './message';`);

/** The lines of usage that the page shows for a message with these counts. */
function usage(...counts) {
  const parts = counts.map(data => ({ type: 'data-usage', id: `usage-${data.scope}`, data }));
  const page = renderToStaticMarkup(createElement(Message, { message: { id: 'm', role: 'assistant', parts }, session: 's', live: false, answers: {} }));
  return [...page.matchAll(/<p class="usage">(.*?)<\/p>/g)].map(([, line]) => line);
}

const step = { scope: 'step', input_tokens: 10, output_tokens: 2 }, turn = { scope: 'turn', input_tokens: 20, output_tokens: 4 };
const session = { scope: 'session', input_tokens: 300, output_tokens: 6, cost_usd: 0.5 };
for (const [name, counts, ...want] of [
  ['a turn of one step is counted once', [{ ...step, scope: 'step' }, { ...step, scope: 'turn' }], '10 tokens in · 2 out'],
  ['the turn is shown, not its last step', [turn, step], '20 tokens in · 4 out'],
  ['the step is shown where the agent does not count the turn', [step], '10 tokens in · 2 out'],
  ['the session is named', [step, turn, session], '20 tokens in · 4 out', 'session: 300 tokens in · 6 out · $0.5000'],
  ['a turn without counts hides nothing', [step, { scope: 'turn', context_used: 3 }], '10 tokens in · 2 out'],
]) test(name, () => assert.deepEqual(usage(...counts), want));

const { List } = await load('list', `
  import { useSessions } from './sessions';
  import { Sidebar } from './sidebar';
  export const List = () => <Sidebar sessions={useSessions()} current={null} onNew={() => {}} onOpen={() => {}} onDelete={async () => {}} />;`);

test('the list shows what others do, and comes back after a restart', async () => {
  const closeWindow = openWindow();
  const server = await start(BINARY), { call } = http(server);
  await visit(server.base, server.token);
  globalThis.location = new URL(server.base);
  const place = document.body.appendChild(document.createElement('div')), root = createRoot(place);
  const shows = words => until(`the list shows ${JSON.stringify(words)}; it shows ${JSON.stringify(place.textContent)}`, () => place.textContent.includes(words));
  const hides = words => until(`the list no longer shows ${JSON.stringify(words)}; it shows ${JSON.stringify(place.textContent)}`, () => !place.textContent.includes(words));
  try {
    root.render(createElement(List));
    await shows('No sessions yet.');
    await call('POST', '/api/sessions', { id: 'one', title: 'First' });
    await shows('First');
    await call('PATCH', '/api/sessions/one', { title: 'Second' });
    await shows('Second');
    await hides('First');
    await call('POST', '/api/chat', { id: 'two', messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'approve' }] }] });
    await shows('waits for you');
    await call('POST', '/api/chat/two/stop');
    await hides('waits for you');
    await call('DELETE', '/api/sessions/one');
    await hides('Second');
    const away = shows('Trying again');
    await server.restart();
    await away;
    await call('POST', '/api/sessions', { id: 'three', title: 'After the restart' });
    await shows('After the restart');
    await hides('Trying again');
  } finally {
    root.unmount();
    await server.stop();
    await closeWindow();
  }
});
