// The chat pages in frameworks/, built as an app's bundler would build them for a browser.
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { compile, compileModule } from 'svelte/compiler';

const ROOT = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');

const svelte = {
  name: 'svelte',
  setup(b) {
    const compiled =
      by =>
      ({ path: filename }) => ({ contents: by(fs.readFileSync(filename, 'utf8'), { filename, generate: 'client' }).js.code });
    b.onLoad({ filter: /\.svelte$/ }, compiled(compile));
    b.onLoad({ filter: /\.svelte\.js$/ }, compiled(compileModule));
  },
};

/** Builds frameworks/<entry>, or an entry by its whole path, into a folder and imports it. alias: packages that are installed under another name. */
export async function load(entry, folder, alias = {}) {
  const out = path.join(folder, `${path.basename(entry)}-${Object.values(alias).join()}.mjs`);
  await build({
    entryPoints: [path.resolve(ROOT, 'frameworks', entry)],
    outfile: out,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    conditions: ['svelte'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
    plugins: [svelte],
    alias,
  });
  return import(out);
}
