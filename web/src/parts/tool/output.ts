import { inputOf, type Input } from './kind';

/** What a tool returned as a text: the text in the forms that agents give it; null if it is none. */
export function textIn(output: unknown): string | null {
  if (typeof output === 'string') return output;
  if (output === null || output === undefined) return '';
  if (Array.isArray(output)) {
    const texts = output.map(o =>
      inputOf(o).type === 'text' ? inputOf(o).text : inputOf(o).type === 'content' ? textIn(inputOf(o).content) : null,
    );
    return texts.every(t => typeof t === 'string') ? texts.join('\n') : null;
  }
  const o = inputOf(output);
  const both = [o.stdout, o.stderr].filter((s): s is string => typeof s === 'string' && s !== '');
  if (both.length) return both.join('\n');
  for (const key of ['output', 'text', 'content', 'aggregated_output', 'formatted_output', 'stdout', 'result', 'error']) {
    if (typeof o[key] === 'string') return o[key];
    if (Array.isArray(o[key])) {
      const all = textIn(o[key]);
      if (all !== null) return all;
    }
  }
  return null;
}

/** The number with which a command ended, if the agent says it. */
export function exitIn(output: unknown): number | null {
  const o = inputOf(output),
    meta = inputOf(o.metadata) as Input;
  const code = [o.exitCode, o.exit_code, o.exit, meta.exit, meta.exitCode, meta.exit_code].find(v => typeof v === 'number');
  return (code as number | undefined) ?? null;
}

/** A file's text without the numbers and tags that agents put around it for their model. */
export function fileIn(text: string): string {
  const inner = /<content>\n?([\s\S]*?)\n?(?:\(End of file[^\n]*\)\n?)?<\/content>/.exec(text)?.[1] ?? text;
  const lines = inner.split('\n'),
    numbered = /^\s*\d+(?:\t|→|: ?|\| ?)/;
  return lines.filter(l => l !== '').every(l => numbered.test(l)) ? lines.map(l => l.replace(numbered, '')).join('\n') : inner;
}

/** A value that stands in a text as JSON. */
export function valueIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.length > 1_000_000) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
