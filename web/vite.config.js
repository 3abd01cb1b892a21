import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import react from '@vitejs/plugin-react';

// The built page is committed, so that `go install` has it. built.sha256 lists its files and those that it was built from,
// in the form of sha256sum. A test of the Go package compares the list with the files.
const record = {
  name: 'record',
  apply: 'build',
  closeBundle() {
    const below = dir =>
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter(f => f.isFile())
        .map(f => `${f.parentPath}/${f.name}`);
    const files = [
      'embed.html',
      'index.html',
      'package-lock.json',
      'tsconfig.json',
      'vite.config.js',
      ...['src', 'widget', 'public', 'dist', '../packages/chat/src'].flatMap(below),
    ];
    const sum = file => createHash('sha256').update(readFileSync(file)).digest('hex');
    writeFileSync(
      'built.sha256',
      files
        .sort()
        .map(file => `${sum(file)}  ${file}\n`)
        .join(''),
    );
  },
};

// `npm run dev` serves the page on its own port and passes /api on; TRIBUTARY names the gateway,
// TRIBUTARY_TOKEN its token.
const token = process.env.TRIBUTARY_TOKEN;

const cssTarget = ['chrome123', 'firefox120', 'safari17.5'];

/** The loader of the widget: one classic script, beside the pages that the first build has made. */
const widget = {
  plugins: [record],
  publicDir: false,
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2022',
    cssTarget,
    sourcemap: false,
    lib: { entry: 'widget/widget.ts', formats: ['iife'], name: 'TributaryWidget', fileName: () => 'widget.js' },
  },
};

// The page is built with the sources of the npm package, and with one copy of the libraries that both use.
const client = new URL('../packages/chat/src', import.meta.url).pathname;

/** The modules that an entry loads before it can run. */
function firstModules(entry, info) {
  const first = new Set(),
    add = id => {
      if (first.has(id)) return;
      first.add(id);
      for (const next of info(id)?.importedIds ?? []) add(next);
    };
  add(new URL(entry, import.meta.url).pathname);
  return first;
}

/** One file for what both entries load first, and one for the rest of the page: each file costs a request, and the time to begin it. */
let firsts;
const firstFile = (id, modules) => {
  firsts ??= ['index.html', 'embed.html'].map(entry => firstModules(entry, one => modules.getModuleInfo(one)));
  const [page, embed] = firsts.map(first => first.has(id));
  return page && embed ? 'both' : page ? 'page' : null;
};

const pages = {
  plugins: [react()],
  resolve: {
    alias: { '@tributary/chat/react': `${client}/react.ts`, '@tributary/chat': `${client}/index.ts` },
    dedupe: ['ai', 'react', '@ai-sdk/react', 'eventsource-parser'],
  },
  build: {
    rollupOptions: {
      input: ['index.html', 'embed.html'],
      output: { codeSplitting: { groups: [{ debugName: 'first', name: firstFile }] } },
    },
    outDir: 'dist',
    license: { fileName: 'licenses.md' },
    target: 'es2022',
    cssTarget,
    sourcemap: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000, // kilobytes; size_test.go bounds what is loaded first, compressed
  },
  server: {
    host: '127.0.0.1',
    fs: { allow: ['.', client] },
    proxy: {
      '/api': {
        target: process.env.TRIBUTARY ?? 'http://127.0.0.1:8787',
        changeOrigin: true,
        ws: true,
        headers: token ? { authorization: `Bearer ${token}` } : {},
      },
    },
  },
};

export default defineConfig(({ mode }) => (mode === 'widget' ? widget : pages));
