// The changes that a call's input describes, as unified diffs.
import { patchOf } from '../diff/patch';
import { pathIn, text, type Input } from './kind';

const either = (input: Input, ...keys: string[]) => keys.map(k => input[k]).find(v => typeof v === 'string') as string | undefined;

/** Codex lists its changes: hunks of a file that changes, the text of one that comes or goes. */
interface Change {
  path?: string;
  kind?: { type?: string; move_path?: string | null } | string;
  diff?: string;
}

function change({ path = '', kind, diff = '' }: Change): string {
  const type = typeof kind === 'string' ? kind : kind?.type,
    to = (typeof kind === 'object' && kind.move_path) || path;
  if (type === 'add') return patchOf(path, null, diff);
  if (type === 'delete') return patchOf(path, diff, null);
  return `--- ${path}\n+++ ${to}\n${diff.replace(/\n+Moved to: .*$/, '')}\n`;
}

/** The patches of apply_patch have marks of their own and no numbers. */
function envelope(patch: string): string {
  const out: string[] = [];
  let hunk: string[] = [];
  const close = () => {
    if (!hunk.length) return;
    const n = (without: string) => hunk.filter(l => l[0] !== without).length;
    out.push(`@@ -1,${n('+')} +1,${n('-')} @@`, ...hunk);
    hunk = [];
  };
  let path = '';
  for (const line of patch.split('\n')) {
    const [, verb, name = ''] =
      /^\*\*\* (Update File|Add File|Delete File|Move to|Begin Patch|End Patch|End of File):? ?(.*)$/.exec(line) ?? [];
    if (verb === 'Move to') {
      out[out.length - 1] = `+++ ${name}`;
      continue;
    }
    if (verb) {
      close();
      if (verb.endsWith(' File') && name) {
        path = name;
        out.push(`--- ${verb === 'Add File' ? '/dev/null' : path}`, `+++ ${verb === 'Delete File' ? '/dev/null' : path}`);
      }
    } else if (line.startsWith('@@')) close();
    else if (path && (/^[+\- ]/.test(line) || line === '')) hunk.push(line || ' ');
  }
  close();
  return `${out.join('\n')}\n`;
}

/** The patch of an edit, by its input; empty if the input does not say what changes. */
export function editsIn(input: Input): string {
  if (Array.isArray(input.changes)) return (input.changes as Change[]).map(change).join('');
  const path = pathIn(input) ?? 'file';
  if (Array.isArray(input.edits)) return (input.edits as Input[]).map(e => one(pathIn(e) ?? path, e)).join('');
  return one(path, input);
}

function one(path: string, input: Input): string {
  const patch = text(input, 'patch', 'patchText', 'diff', 'unified_diff') ?? (typeof input.input === 'string' ? input.input : undefined);
  if (patch?.includes('*** Begin Patch')) return envelope(patch);
  if (patch && /^@@ -|^--- /m.test(patch)) return /^--- /m.test(patch) ? patch : `--- ${path}\n+++ ${path}\n${patch}`;
  const now = either(input, 'new_string', 'newString', 'new_str', 'newText', 'replace', 'new_source', 'insert_text');
  const old = either(input, 'old_string', 'oldString', 'old_str', 'oldText', 'search');
  if (now !== undefined || old !== undefined) return patchOf(path, old || null, now ?? '');
  const whole = either(input, 'content', 'contents', 'file_text', 'text', 'code_edit');
  return whole === undefined ? '' : patchOf(path, null, whole);
}
