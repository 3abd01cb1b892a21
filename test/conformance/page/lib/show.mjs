// Shows messages that no agent of the tests sends: the page is real, and so is the gateway, but the history comes from here.
import assert from 'node:assert/strict';
import { open, until } from './page.mjs';

let sessions = 0;

/** A new session; prepare gives a page its history, which is these pages, the newest first. */
async function session(site, pages) {
  const id = `shown-${process.pid}-${++sessions}`;
  await site.post('/api/sessions', { id, title: 'Shown' });
  const prepare = page =>
    page.route(
      url => url.pathname === `/api/sessions/${id}/messages`,
      route => {
        const at = Number(new URL(route.request().url()).searchParams.get('before') ?? 0);
        const link = at + 1 < pages.length ? { link: `</api/sessions/${id}/messages?before=${at + 1}>; rel="prev"` } : {};
        return route.fulfill({ json: pages[at], headers: link });
      },
    );
  return { hash: `#/s/${id}`, prepare };
}

/**
 * The page at a session whose history is these messages. before: the pages above it, the newest first.
 * options: those of open.
 */
export async function show(site, messages, { before = [], ...options } = {}) {
  const { hash, prepare } = await session(site, [messages, ...before]);
  return open(site, hash, { ...options, prepare });
}

let kept;

/**
 * The same for tests of a file that run one after the other and change nothing but the session: they get one page, for a fresh one takes three times the
 * processor time. A test that fails does not pass its page on.
 */
export async function showNext(site, messages) {
  const page = kept ?? (await open(site));
  kept = undefined;
  const { hash, prepare } = await session(site, [messages]);
  await prepare(page);
  await page.goto(`${site.base}/#/`);
  await until('the last session has left the page', async () => (await page.locator('[role=log] article').count()) === 0);
  await page.goto(`${site.base}/${hash}`);
  page.leave = async () => {
    assert.deepEqual(page.errors, []);
    kept = page;
  };
  return page;
}

let messages = 0;
export const says = (...parts) => ({
  id: `a${++messages}`,
  role: 'assistant',
  parts: parts.map(p => (typeof p === 'string' ? { type: 'text', text: p, state: 'done' } : p)),
});
export const asks = text => ({ id: `u${++messages}`, role: 'user', parts: [{ type: 'text', text }] });

let calls = 0;
/** The kinds that the gateway has for the tools of the tests. */
const KINDS = {
  Bash: 'execute',
  shell: 'execute',
  commandExecution: 'execute',
  run_shell_command: 'execute',
  execute: 'execute',
  Read: 'read',
  Grep: 'search',
  Glob: 'search',
  WebFetch: 'fetch',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'edit',
  edit: 'edit',
  fileChange: 'edit',
  apply_patch: 'edit',
  TodoWrite: 'think',
  update_plan: 'think',
  Task: 'think',
};

/** A call of a tool: its output, or what else it has. */
export const call = (toolName, input, output, more = {}) => ({
  type: 'dynamic-tool',
  toolName,
  toolCallId: `call_${++calls}`,
  state: output === undefined ? 'input-available' : 'output-available',
  input,
  output,
  providerExecuted: true,
  callProviderMetadata: { tributary: { kind: KINDS[toolName] ?? 'other', started_at: '2026-01-01T00:00:00.000Z' } },
  ...more,
});
export const failed = (toolName, input, errorText, more = {}) =>
  call(toolName, input, undefined, { state: 'output-error', errorText, ...more });
export const data = (name, value, id) => ({ type: `data-${name}`, id, data: value });
