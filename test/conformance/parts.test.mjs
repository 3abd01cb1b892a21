// Renders the components that docs/reference/parts.md shows with parts of the form that the gateway sends.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { CLIENTS } from './lib/clients.mjs';
import { load } from './lib/page.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.parts-'));
after(() => fs.rmSync(built, { recursive: true, force: true }));
const { DataPart } = await load('reference/parts.md', 'parts.tsx', CLIENTS.at(-1), built);

const rendered = (type, data) => renderToStaticMarkup(createElement(DataPart, { part: { type, data }, session: 's' }));

for (const [type, data, ...want] of [
  [
    'data-plan',
    {
      entries: [
        { content: 'Read', status: 'completed' },
        { content: 'Write', status: 'in_progress' },
      ],
    },
    '☑ Read',
    '☐ Write',
  ],
  [
    'data-file-change',
    { path: 'a.txt', change: 'modified', diff: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n' },
    'a.txt modified',
    '<div style="color:green">+new</div>',
  ],
  ['data-file-change', { path: 'a.txt', change: 'deleted' }, 'a.txt deleted'],
  ['data-subagent', { name: 'Explorer', text: 'found it', status: 'running' }, '<details open="">', 'Explorer: running', 'found it'],
  [
    'data-usage',
    { scope: 'turn', input_tokens: 1200, output_tokens: 34, cost_usd: 0.0123, context_used: 100, context_size: 1000 },
    'turn: 1200 in, 34 out, $0.0123',
    'max="1000"',
  ],
  ['data-usage', { scope: 'session', context_used: 5, context_size: 10 }, 'session: ? in, ? out'],
  [
    'data-modes',
    { current: 'plan', modes: [{ id: 'default' }, { id: 'plan', name: 'Plan' }] },
    '<option value="plan" selected="">Plan</option>',
  ],
  ['data-commands', { commands: [{ name: 'init', description: 'Makes a file' }] }, '<option value="/init ">Makes a file</option>'],
  ['data-steer', { text: 'in French', by: 'ada' }, 'ada, meanwhile: in French'],
])
  test(`${type} ${JSON.stringify(data).slice(0, 60)}`, () => {
    for (const words of want) assert.ok(rendered(type, data).includes(words), rendered(type, data));
  });

test('an unknown part shows nothing', () => assert.equal(rendered('data-else', {}), ''));
