import { Fragment, memo } from 'react';

/** Plain text with its line breaks; only fenced blocks and `code` are set apart. */
export const Text = memo(function Text({ text }: { text: string }) {
  if (!text) return null;
  return (
    <div className="text">
      {text.split(/^```[^\n]*\n?/m).map((piece, i) => (i % 2
        ? <pre key={i}><code>{piece.replace(/\n$/, '')}</code></pre>
        : <Fragment key={i}>{inline(i ? piece.replace(/^\n/, '') : piece)}</Fragment>))}
    </div>
  );
});

function inline(text: string) {
  return text.split(/`([^`\n]+)`/).map((s, i) => (i % 2 ? <code key={i}>{s}</code> : s));
}
