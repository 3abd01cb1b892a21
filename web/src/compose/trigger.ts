// The word at the caret that asks for a list: a command at the beginning of the prompt, or a file anywhere.
export interface Trigger {
  kind: 'command' | 'file';
  query: string;
  from: number;
  to: number;
}

export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { kind: 'command', query: command[1]!, from: 0, to: caret };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  return file ? { kind: 'file', query: file[1]!, from: caret - file[1]!.length - 1, to: caret } : null;
}
