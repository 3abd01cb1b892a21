// This file names what a call does, so that the page can draw the call.
import { factsOf, nameOf, type ToolPart } from './state';

export type Kind = 'command' | 'edit' | 'read' | 'search' | 'fetch' | 'plan' | 'agent' | 'other';

/** The kinds that the gateway says. Plans and sub-agents are none of them. */
const SAID: Record<string, Kind> = {
  execute: 'command',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  read: 'read',
  search: 'search',
  fetch: 'fetch',
};

const NAMES: Record<'plan' | 'agent', string> = {
  plan: 'todowrite todolist writetodos updateplan plan settodolist updatetodo updatetodolist todo exitplanmode taskcreate taskupdate',
  agent: 'task agent spawnagent delegate delegatetoagent collabtoolcall collabagenttoolcall subagentactivity subagentexecutetask',
};

const NAMED = new Map(Object.entries(NAMES).flatMap(([kind, names]) => names.split(' ').map(name => [name, kind as Kind])));

export type Input = Record<string, unknown>;

export const inputOf = (input: unknown): Input => (input && typeof input === 'object' && !Array.isArray(input) ? (input as Input) : {});

/** The first of these keys that holds a text. */
export const text = (input: Input, ...keys: string[]): string | undefined =>
  keys.map(k => input[k]).find((v): v is string => typeof v === 'string' && v !== '');

export const pathIn = (input: Input) =>
  text(
    input,
    'file_path',
    'filePath',
    'path',
    'notebook_path',
    'absolute_path',
    'filename',
    'target_file',
    'abs_path',
    'target_directory',
    'directory',
  );

/** A command, whether its words are one text or a list. */
export function commandIn(input: Input): string | undefined {
  const words = input.command ?? input.cmd;
  if (Array.isArray(words)) return words.join(' ').replace(/^(?:\/bin\/)?(?:ba|z)?sh -l?c /, '');
  return text(input, 'command', 'cmd', 'script', 'code', 'chars');
}

/** What a tool does that the gateway does not know, by the keys of its input. */
function guess(input: Input): Kind {
  if (commandIn(input) && (input.command ?? input.cmd)) return 'command';
  if (pathIn(input) && ['old_string', 'oldText', 'old_str', 'newText', 'new_string', 'new_str', 'file_text'].some(k => k in input))
    return 'edit';
  return 'other';
}

export const kindOf = (part: ToolPart): Kind =>
  SAID[factsOf(part).kind ?? ''] ??
  NAMED.get(
    nameOf(part)
      .replace(/[^a-z]/gi, '')
      .toLowerCase(),
  ) ??
  guess(inputOf(part.input));
