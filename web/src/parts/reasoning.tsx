import { useState } from 'react';

/** Open while it streams, closed afterwards, unless the reader says otherwise. */
export function Reasoning({ text, live }: { text: string; live: boolean }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  if (!text && !live) return null;
  return (
    <details className="reasoning" open={chosen ?? live}>
      <summary onClick={e => { e.preventDefault(); setChosen(!(chosen ?? live)); }}>{live ? 'Thinking' : 'Thoughts'}</summary>
      <div className="text">{text}</div>
    </details>
  );
}
