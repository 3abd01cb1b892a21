// The code that the documentation shows: each block of a page that has a name is a file of an app, or commands for a shell.
import fs from 'node:fs';
import path from 'node:path';
import { build, transformSync } from 'esbuild';

export const ROOT = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../..');
const DOCS = path.join(ROOT, 'docs');

/** Whether first-use/follow.test.mjs runs a block ("PAGE NAME"), in a fresh app and a real browser. */
export const followed = b =>
  /^(quickstart|guides\/(vite|nextjs))\.md |^guides\/react-by-hand\.md install$|^guides\/react\.md |^guides\/users\.md (tributary\.yaml|serve|token\.ts)$/.test(
    b,
  );

/** All pages whose every block is run as it stands. */
export const GUIDES = [
  'quickstart.md',
  ...fs
    .readdirSync(path.join(DOCS, 'guides'))
    .filter(f => f.endsWith('.md'))
    .map(f => `guides/${f}`),
];

const APPS = ['js', 'jsx', 'ts', 'tsx'];
const used = new Set();

/** The blocks of a page of docs/, or of README.md: {language, name, from, code}. A block that no test could run is an error. */
export function blocks(page) {
  const text = fs.readFileSync(path.join(page === 'README.md' ? ROOT : DOCS, page), 'utf8');
  const found = [...text.matchAll(/^```(\w*)(?: name=(\S+))?(?: in=(\S+))?.*\n([\s\S]*?)^```$/gm)].map(
    ([, language, name, from, code]) => ({ language, name, from, code }),
  );
  for (const { language, name, from, code } of found) {
    if (!name && !from && (GUIDES.includes(page) || APPS.includes(language)))
      throw new Error(`${page} shows ${language} that no test runs: ${code.split('\n')[0]}`);
    if (name && found.filter(b => b.name === name).length > 1) throw new Error(`${page} has two blocks with the name ${name}`);
  }
  const indented = GUIDES.includes(page) && text.replace(/^```[\s\S]*?^```$/gm, '').match(/\n\n {4}(.*)/);
  if (indented) throw new Error(`${page} shows an indented block that no test runs: ${indented[1]}`);
  return found;
}

/** The code of one block. */
export function block(page, name) {
  const found = blocks(page).find(b => b.name === name);
  if (!found) throw new Error(`${page} has no block with the name ${name}`);
  used.add(`${page} ${name}`);
  return found.code;
}

/** The files of an app that follows these pages: name → the last page that shows it. */
export function files(...pages) {
  return new Map(
    pages.flatMap(page =>
      blocks(page)
        .filter(b => b.name && APPS.includes(b.language))
        .map(b => [b.name, page]),
    ),
  );
}

/** The blocks with a name on these pages that this program has not used. */
export const unused = pages =>
  pages.flatMap(page =>
    blocks(page)
      .filter(b => b.name && !used.has(`${page} ${b.name}`))
      .map(b => `${page} ${b.name}`),
  );

/** A block in TypeScript as a module for Node. */
export const script = (page, name) => transformSync(block(page, name), { loader: 'ts', format: 'esm' }).code;

let built = 0;

/**
 * Builds a file of an app that follows these pages, with those it imports, for one client, and imports it. folder must lie where the clients are
 * found. swap: texts of the pages that are others here, such as an address.
 */
export async function load(pages, entry, client, folder, swap = {}) {
  const shown = files(...[pages].flat()),
    out = path.join(folder, `${++built}.mjs`);
  const resolve = name => [name, `${name}.ts`, `${name}.tsx`].find(n => shown.has(n));
  const code = name => Object.entries(swap).reduce((text, [from, to]) => text.replaceAll(from, to), block(shown.get(name), name));
  await build({
    entryPoints: [entry],
    outfile: out,
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    logLevel: 'silent',
    plugins: [
      {
        name: 'page',
        setup(b) {
          b.onResolve({ filter: /.*/ }, ({ path: wanted }) => {
            const file = resolve(wanted.replace(/^\.\//, ''));
            if (file) return { path: file, namespace: 'page' };
            if (wanted.startsWith('.')) return { errors: [{ text: `${[pages].flat().join(', ')} show no file ${wanted}` }] };
            return { path: { ai: `ai-${client.name}`, '@ai-sdk/react': `react-${client.react}` }[wanted] ?? wanted, external: true };
          });
          b.onLoad({ filter: /.*/, namespace: 'page' }, ({ path: file }) => ({
            contents: code(file),
            loader: file.endsWith('.ts') ? 'ts' : 'tsx',
          }));
        },
      },
    ],
  });
  return import(out);
}
