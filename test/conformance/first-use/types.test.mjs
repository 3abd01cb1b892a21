// The TypeScript of the guides, checked strictly against the types of the clients that it is for.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { CLIENTS } from '../lib/clients.mjs';
import { block, files, ROOT } from '../lib/page.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const folder = fs.mkdtempSync(path.join(HERE, 'app-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const REACT = 'guides/react-by-hand.md',
  ASKING = [REACT, 'guides/approvals.md'];
const client = name => CLIENTS.find(c => c.name === name);
const newest = ['6.0.323', '7.0.173'].map(client);

/** Checks the files of some folders with the types of a client, all in one program. The configuration is written to the folder app. */
function check(app, folders, c) {
  const installed = path.join(HERE, '../node_modules'),
    types = path.join(HERE, 'node_modules/@types');
  fs.writeFileSync(
    path.join(app, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        module: 'esnext',
        moduleResolution: 'bundler',
        jsx: 'react-jsx',
        noUnusedLocals: true,
        verbatimModuleSyntax: true,
        types: [],
        paths: {
          ai: [path.join(installed, `ai-${c.name}`)],
          '@ai-sdk/react': [path.join(installed, `react-${c.react}`)],
          react: [path.join(types, 'react')],
          'react/jsx-runtime': [path.join(types, 'react/jsx-runtime')],
          'react-dom/client': [path.join(types, 'react-dom/client')],
          zustand: [path.join(installed, 'zustand')],
          'zustand/vanilla': [path.join(installed, 'zustand/vanilla')],
        },
      },
      include: folders.flatMap(sources => ['ts', 'tsx'].map(ext => path.join(sources, `*.${ext}`))),
    }),
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(HERE, 'node_modules/typescript/bin/tsc'), '-p', app], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
}

const CHECKED = [
  [['quickstart.md'], newest],
  [[REACT], newest],
  [[...ASKING, 'guides/resume-and-tabs.md', 'guides/edit.md', 'reference/parts.md'], newest],
  [[...ASKING, 'guides/users.md'], newest],
  [[...ASKING, 'guides/ai-sdk-5.md'], [client('5.0.277')]],
];

describe('the types of the pages, and of examples/agent-ops-client, are right', { concurrency: 2 }, () => {
  for (const c of new Set(CHECKED.flatMap(([, clients]) => clients))) {
    test(`with ai ${c.name}`, () => {
      const app = fs.mkdtempSync(path.join(folder, 'types-'));
      const folders = CHECKED.filter(([, clients]) => clients.includes(c)).map(([pages]) => {
        const sources = path.join(app, pages.join('+').replace(/\W+/g, '-')); // an error names it
        fs.mkdirSync(sources);
        for (const [name, page] of files(...pages)) {
          if (name.startsWith('token.') || (c.major === 5 && ['approval.tsx', 'always-allow.tsx'].includes(name))) continue; // the server's; not for 5
          fs.writeFileSync(path.join(sources, name), block(page, name));
        }
        return sources;
      });
      check(app, c === newest.at(-1) ? [...folders, path.join(ROOT, 'examples/agent-ops-client/src')] : folders, c);
    });
  }
});
