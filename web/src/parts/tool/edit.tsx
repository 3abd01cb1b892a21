import { useMemo } from 'react';
import { ChevronRight } from 'lucide-react';
import { jsonLines } from '@tributary/chat';
import { Diff } from '../diff';
import { Input } from '../input';
import { editsIn } from './edits';
import { inputOf } from './kind';
import { factsOf, nameOf, type ToolPart } from './state';

/** An edit: what the agent has reported that it changed, else the changes that its input describes; and the whole input, because a diff need not say all of it. */
export function Edit({ part, diffs }: { part: ToolPart; diffs: string[] }) {
  const { input } = part,
    name = `${nameOf(part)}-input`,
    inputText = factsOf(part).input_text;
  const described = useMemo(() => (inputText ? null : editsIn(inputOf(input))), [input, inputText]),
    patches = diffs.length ? diffs : described ? [described] : [];
  const lines = useMemo(() => (input === undefined ? 0 : jsonLines(input).split('\n').length), [input]);
  if (!patches.length)
    return (
      <section className="value">
        <Input input={input} inputText={inputText} name={name} />
      </section>
    );
  return (
    <>
      {patches.map((patch, i) => (
        <Diff key={i} patch={patch} heads={patches.length > 1 || undefined} />
      ))}
      {lines > 0 && (
        <details className="folded">
          <summary>
            <ChevronRight className="chevron" size={14} aria-hidden="true" />
            The whole input, {lines.toLocaleString('en')} {lines === 1 ? 'line' : 'lines'}
          </summary>
          <Input input={input} inputText={inputText} name={name} />
        </details>
      )}
    </>
  );
}
