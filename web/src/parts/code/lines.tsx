import { textOf, type Line } from './line';

/** Pieces of a line as elements. */
export const Pieces = ({ line }: { line: Line }) =>
  line.map((p, i) =>
    p.hue ? (
      <span key={i} className={`hue-${p.hue}`}>
        {p.text}
      </span>
    ) : (
      p.text
    ),
  );

/** A code, in colours where they are known. A line that has changed since it was coloured is plain for a moment. */
export function Lines({ code, colors }: { code: string; colors: Line[] | null }) {
  if (!colors) return code;
  return code.split('\n').map((text, i) => {
    const line = colors[i];
    return (
      <span key={i}>
        {i > 0 && '\n'}
        {line && textOf(line) === text ? <Pieces line={line} /> : text}
      </span>
    );
  });
}
