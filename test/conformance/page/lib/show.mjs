// Shows messages that no agent of the tests sends: the page is real, and so is the gateway, but the history comes from here.
import { open } from './page.mjs';

let sessions = 0;

/**
 * The page at a session whose history is these messages. before: the pages above it, the newest first.
 * options: those of open.
 */
export async function show(site, messages, { before = [], ...options } = {}) {
  const id = `shown-${process.pid}-${++sessions}`;
  await site.post('/api/sessions', { id, title: 'Shown' });
  const pages = [messages, ...before];
  return open(site, `#/s/${id}`, {
    ...options,
    prepare: async page => {
      await page.route(
        url => url.pathname === `/api/sessions/${id}/messages`,
        route => {
          const at = Number(new URL(route.request().url()).searchParams.get('before') ?? 0);
          const link = at + 1 < pages.length ? { link: `</api/sessions/${id}/messages?before=${at + 1}>; rel="prev"` } : {};
          return route.fulfill({ json: pages[at], headers: link });
        },
      );
    },
  });
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
