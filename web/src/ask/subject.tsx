// The subject of a request, in full: the command, the change of a file, or the input.
import { useEffect, useState } from 'react';
import type { PendingRequest } from '@tributary/chat';

/** The command of an input, and a copy of the input with another command; null where there is none. */
export function commandOf(input: unknown): { text: string; with: (text: string) => unknown } | null {
  if (!input || typeof input !== 'object' || Array.isArray(input)) return null;
  const { command, cmd } = input as { command?: unknown; cmd?: unknown };
  for (const [key, value] of [['command', command], ['cmd', cmd]] as const) {
    if (typeof value === 'string') return { text: value, with: text => ({ ...input, [key]: text }) };
  }
  return null;
}

interface Change { path: string; before: string; after: string }

function changeOf(input: unknown): Change | null {
  if (!input || typeof input !== 'object') return null;
  const i = input as Record<string, unknown>;
  const text = (...keys: string[]) => keys.map(k => i[k]).find((v): v is string => typeof v === 'string');
  const path = text('file_path', 'path', 'filePath', 'file', 'filename'), after = text('new_string', 'newText', 'newString', 'content', 'new_text');
  return path !== undefined && after !== undefined ? { path, before: text('old_string', 'oldText', 'oldString', 'old_text') ?? '', after } : null;
}

export function Subject({ request }: { request: PendingRequest }) {
  const { input } = request, command = commandOf(input), change = changeOf(input);
  if (input === undefined || input === null) return null;
  if (command) return <pre className="subject command" tabIndex={0} aria-label="The command">{command.text}</pre>;
  if (change) return <Changed {...change} />;
  return <pre className="subject" tabIndex={0} aria-label="The input">{typeof input === 'string' ? input : JSON.stringify(input, null, 2)}</pre>;
}

interface Line { sign: '+' | '-' | ' '; text: string }

const lines = (text: string, sign: Line['sign']): Line[] => text.replace(/\n$/, '').split('\n').map(l => ({ sign, text: l }));

function Changed({ path, before, after }: Change) {
  const [rows, setRows] = useState<Line[]>(() => [...(before ? lines(before, '-') : []), ...lines(after, '+')]);
  useEffect(() => {
    let here = true;
    if (before) {
      void import('diff').then(({ diffLines }) => {
        if (here) setRows(diffLines(before, after).flatMap(p => lines(p.value, p.added ? '+' : p.removed ? '-' : ' ')));
      });
    }
    return () => { here = false; };
  }, [before, after]);
  return (
    <figure className="subject change">
      <figcaption>{path}</figcaption>
      <pre tabIndex={0} aria-label={`The change of ${path}`}>{rows.map((r, i) => <span key={i} className={r.sign === '+' ? 'add' : r.sign === '-' ? 'del' : ''}>{r.sign} {r.text}{'\n'}</span>)}</pre>
    </figure>
  );
}
