// Renders messages with the components of the gateway's own page, web/src.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { build } from 'esbuild';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.page-'));
after(() => fs.rmSync(built, { recursive: true, force: true }));
const outfile = path.join(built, 'message.mjs');
await build({
  entryPoints: [path.join(HERE, '../web/src/message.tsx')], outfile, bundle: true, format: 'esm', jsx: 'automatic', logLevel: 'silent',
  plugins: [{ name: 'one react', setup: b => b.onResolve({ filter: /^react/ }, ({ path: name }) => ({ path: name, external: true })) }],
});
const { Message } = await import(outfile);

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
