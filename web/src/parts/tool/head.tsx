import { Bot, FileText, Globe, ListTodo, Pencil, Search, SquareTerminal, Wrench, type LucideIcon } from 'lucide-react';
import { commandIn, inputOf, pathIn, text, type Kind } from './kind';
import { factsOf, nameOf, type ToolPart } from './state';

export const ICONS: Record<Kind, LucideIcon> = {
  command: SquareTerminal,
  edit: Pencil,
  read: FileText,
  search: Search,
  fetch: Globe,
  plan: ListTodo,
  agent: Bot,
  other: Wrench,
};

/** bash_output as "Bash output". */
const readable = (name: string) => {
  const words = name
    .replace(/^mcp__/, '')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_.:-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The line of a closed card: a verb, and what the call is about. */
export function headOf(part: ToolPart, kind: Kind): { verb: string; about?: string; code?: boolean } {
  const name = nameOf(part),
    input = factsOf(part).input_text ? {} : inputOf(part.input),
    title = part.title?.trim();
  if (kind === 'command') {
    const command = commandIn(input);
    if (command) return { verb: 'Run', about: command.split('\n')[0], code: true };
  }
  if (kind === 'read' || kind === 'edit') {
    const [, verb, about] = /^(Read|Edit|Write|Delete|Move|Create|Look at) (.+)$/.exec(title ?? '') ?? [];
    const path = pathIn(input);
    if (verb) return { verb, about: path ?? about, code: true };
    if (path && !title) return { verb: kind === 'read' ? 'Read' : 'Edit', about: path, code: true };
  }
  const [, verb, code] = /^(.*?) `([^`]+)`$/.exec(title ?? '') ?? [];
  if (verb) return { verb, about: code, code: true };
  if (title && title !== name) return { verb: title, about: kind === 'agent' ? undefined : detail(input, title) };
  return { verb: readable(name), about: detail(input, '') };
}

/** The first text of an input that the title does not say already. */
function detail(input: Record<string, unknown>, title: string): string | undefined {
  const found =
    text(input, 'pattern', 'query', 'url', 'path', 'file_path') ??
    Object.values(input).find((v): v is string => typeof v === 'string' && v !== '');
  return found && !title.includes(found) ? found.split('\n')[0]!.slice(0, 160) : undefined;
}
