// Files of the page's sources that need no browser, for tests in Node.
import { runnerImport } from 'vite';
import config from '../vite.config.js';

const root = new URL('..', import.meta.url).pathname;

/** What a file below src exports. */
export const source = async file =>
  (await runnerImport(`${root}src/${file}`, { root, ...config({ mode: 'test' }), logLevel: 'warn' })).module;
