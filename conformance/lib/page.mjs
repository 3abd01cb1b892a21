// The code that the documentation shows: each block of a page that has a name is a file of an app.
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const DOCS = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../docs');

/** The files on a page of docs/: name → code. A block in a language of apps without a name is an error, for nobody would run it. */
export function files(page) {
  const found = new Map();
  for (const [, language, name, code] of fs.readFileSync(path.join(DOCS, page), 'utf8').matchAll(/^```(\w+)(?: name=(\S+))?\n([^]*?)^```$/gm)) {
    if (name && found.has(name)) throw new Error(`docs/${page} has two blocks with the name ${name}`);
    if (name) found.set(name, code);
    else if (['js', 'jsx', 'ts', 'tsx'].includes(language)) throw new Error(`docs/${page} shows ${language} that no test runs: ${code.split('\n')[0]}`);
  }
  return found;
}

/** Builds a file of a page, with those it imports, for one client, and imports it. folder must lie where the clients are found. */
export async function load(page, entry, client, folder) {
  const shown = files(page), out = path.join(folder, `${entry}-${client.name}.mjs`);
  const resolve = name => [name, `${name}.js`, `${name}.jsx`].find(n => shown.has(n));
  await build({
    entryPoints: [entry], outfile: out, bundle: true, format: 'esm', jsx: 'automatic', logLevel: 'silent',
    plugins: [{
      name: 'page',
      setup(b) {
        b.onResolve({ filter: /.*/ }, ({ path: wanted }) => {
          const file = resolve(wanted.replace(/^\.\//, ''));
          if (file) return { path: file, namespace: 'page' };
          if (wanted.startsWith('.')) return { errors: [{ text: `docs/${page} shows no file ${wanted}` }] };
          return { path: { ai: `ai-${client.name}`, '@ai-sdk/react': `react-${client.react}` }[wanted] ?? wanted, external: true };
        });
        b.onLoad({ filter: /.*/, namespace: 'page' }, ({ path: file }) => ({ contents: shown.get(file), loader: 'jsx' }));
      },
    }],
  });
  return import(out);
}
