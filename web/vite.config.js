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
    const below = (dir) => readdirSync(dir, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).map((f) => `${f.parentPath}/${f.name}`);
    const files = ['index.html', 'package-lock.json', 'tsconfig.json', 'vite.config.js', ...['src', 'public', 'dist'].flatMap(below)];
    const sum = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
    writeFileSync('built.sha256', files.sort().map((file) => `${sum(file)}  ${file}\n`).join(''));
  },
};

// `npm run dev` serves the page on its own port and passes /api on; TRIBUTARY names the gateway,
// TRIBUTARY_TOKEN its token.
const token = process.env.TRIBUTARY_TOKEN;

export default defineConfig({
  plugins: [react(), record],
  build: { outDir: 'dist', license: { fileName: 'licenses.md' }, target: 'es2022', sourcemap: false, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/api': {
        target: process.env.TRIBUTARY ?? 'http://127.0.0.1:8787',
        changeOrigin: true,
        headers: token ? { authorization: `Bearer ${token}` } : {},
      },
    },
  },
});
