// What a person reads of the input of a call. Each key and each value of the input stands in it: an agent may run what is not read.
import type { PendingRequest } from './events.js';
import { visibleText } from './visible.js';

/** A text in a file that becomes another one. before is empty if nothing was there, after if nothing remains. */
export interface InputChange {
  path: string;
  before: string;
  after: string;
}

/** An input in pieces to be drawn. No leaf of the input is missing: rest has all that the other fields lack. */
export interface InputView {
  /** The command that is to run. */
  command?: string;
  /** The changes of files. */
  changes: InputChange[];
  /** Other texts of several lines, with their keys. An input that is itself a text has the key ''. */
  texts: { key: string; text: string }[];
  /** All other keys and values, as jsonLines writes them; undefined if there are none. */
  rest?: string;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const PATH = ['file_path', 'path', 'filePath', 'file', 'filename', 'notebook_path'];
const BEFORE = ['old_string', 'oldText', 'oldString', 'old_str', 'old_text'];
const AFTER = ['new_string', 'newText', 'newString', 'new_str', 'new_text', 'content', 'file_text', 'new_source'];

/** Whether a value is a text that can be seen without quotation marks around it. */
const isText = (value: unknown): value is string => typeof value === 'string' && /\S/.test(value);

/** The first of these keys that holds such a text. */
const textKey = (fields: Fields, keys: string[]) => keys.find(key => Object.hasOwn(fields, key) && isText(fields[key]));

/** The change that these fields describe, and the keys that it shows; path is that of the fields around them. */
function changeOf(fields: Fields, path?: string): { change: InputChange; keys: string[] } | undefined {
  const at = textKey(fields, PATH),
    before = textKey(fields, BEFORE),
    after = textKey(fields, AFTER),
    text = (key: string | undefined) => (key === undefined ? '' : (fields[key] as string));
  if ((at === undefined && path === undefined) || (before === undefined && after === undefined)) return undefined;
  if (text(before) === text(after)) return undefined; // the difference of the two would show nothing
  return {
    change: { path: at === undefined ? path! : text(at), before: text(before), after: text(after) },
    keys: [at, before, after].filter(key => key !== undefined),
  };
}

/** How many edits, and how many texts, have a place of their own. More of them stand in the rest, which a fold can bound. */
const MOST = 20;

/** The changes in a list of edits, if they show all that is in the list. */
function editsOf(list: unknown, path: string | undefined): InputChange[] | undefined {
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST) return undefined;
  const found = list.map(edit => {
    const of = isFields(edit) ? changeOf(edit, path) : undefined;
    return of && of.keys.length === Object.keys(edit as Fields).length ? of.change : undefined;
  });
  return found.every(change => change !== undefined) ? found : undefined;
}

/**
 * The view of an input. without: keys that the app shows by itself. text: the input_text of the request, which stands for the whole input:
 * JSON.parse has lost some of the input.
 */
export function inputView(input: unknown, without: readonly string[] = [], text?: string): InputView {
  const view: InputView = { changes: [], texts: [] };
  if (text) return { ...view, texts: [{ key: '', text }] };
  if (input === undefined) return view;
  if (isText(input)) return { ...view, texts: [{ key: '', text: input }] };
  if (!isFields(input)) return { ...view, rest: jsonLines(input) };
  const shown = new Set(without),
    command = textKey(input, ['command', 'cmd']);
  if (command !== undefined && !shown.has(command)) {
    view.command = input[command] as string;
    shown.add(command);
  } else {
    const one = changeOf(input),
      path = textKey(input, PATH),
      edits = editsOf(input.edits, path === undefined ? undefined : (input[path] as string));
    if (one && !one.keys.some(key => shown.has(key))) {
      view.changes.push(one.change);
      for (const key of one.keys) shown.add(key);
    }
    if (edits && !shown.has('edits')) {
      view.changes.push(...edits);
      shown.add('edits');
      if (path !== undefined) shown.add(path);
    }
  }
  for (const [key, value] of Object.entries(input)) {
    if (view.texts.length === MOST) break;
    if (shown.has(key) || !isText(key) || !isText(value) || !value.includes('\n')) continue;
    view.texts.push({ key, text: value });
    shown.add(key);
  }
  const rest = Object.entries(input).filter(([key]) => !shown.has(key));
  if (rest.length > 0 || Object.keys(input).length === 0) view.rest = jsonLines(Object.fromEntries(rest));
  return view;
}

/** How far lines are indented at most, in steps, and how long a list of plain values may be that stands in one line, in characters. */
const DEEPEST = 12,
  SHORT = 72;

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;

/** A string as JSON, with a new line after each \n, so that a text of many lines can be read. */
const quoted = (text: string, indent: string) =>
  JSON.stringify(text).replace(/(\\*)\\n(?!"$)/g, (found, slashes: string) => (slashes.length % 2 ? found : `${found}\n${indent}`));

/** A value as JSON in lines, of any depth. Only a string of several lines has line breaks that JSON has not. */
export function jsonLines(value: unknown): string {
  const out: string[] = [],
    indentAt = (depth: number) => '  '.repeat(Math.min(depth, DEEPEST));
  const leaf = (of: unknown, indent: string) => (typeof of === 'string' ? quoted(of, indent) : (JSON.stringify(of) ?? 'null'));
  // A stack of its own: an agent may nest deeper than functions can call each other.
  const open: { entries: [string | null, unknown][]; at: number; close: string }[] = [];
  const write = (of: unknown) => {
    if (isPlain(of)) {
      out.push(leaf(of, indentAt(open.length + 1)));
      return;
    }
    const list = Array.isArray(of),
      entries: [string | null, unknown][] = list ? of.map(item => [null, item]) : Object.entries(of as Fields);
    if (entries.every(([, item]) => isPlain(item)) && entries.length * 2 < SHORT) {
      const line = entries.map(([key, item]) => (key === null ? '' : `${JSON.stringify(key)}: `) + leaf(item, '')).join(', ');
      if (entries.length === 0 || (line.length <= SHORT && !line.includes('\n') && (list || open.length > 0))) {
        out.push(list ? `[${line}]` : `{${line}}`);
        return;
      }
    }
    out.push(list ? '[' : '{');
    open.push({ entries, at: 0, close: list ? ']' : '}' });
  };
  write(value);
  for (let now = open.at(-1); now; now = open.at(-1)) {
    if (now.at === now.entries.length) {
      open.pop();
      out.push(`\n${indentAt(open.length)}${now.close}`);
      continue;
    }
    const [key, item] = now.entries[now.at++]!;
    out.push(`${now.at > 1 ? ',' : ''}\n${indentAt(open.length)}${key === null ? '' : `${JSON.stringify(key)}: `}`);
    write(item);
  }
  return out.join('');
}

/** The whole input of a call as one text, with all of its characters visible. text: the input_text of the request, if it has one. */
export const inputText = (input: unknown, text?: string): string =>
  text ? visibleText(text) : input === undefined ? '' : visibleText(jsonLines(input));

/** All that a person needs to read before they answer a request, as one text: the title with the whole input, or the question. */
export function requestText({
  kind,
  title,
  text,
  input,
  input_text,
}: Pick<PendingRequest, 'kind' | 'title' | 'text' | 'input' | 'input_text'>): string {
  if (kind === 'question') return visibleText(text || title);
  return [visibleText(title), inputText(input, input_text)].filter(Boolean).join('\n');
}
