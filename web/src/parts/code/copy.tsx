import { useEffect, useState } from 'react';
import { Check, Copy as CopyIcon } from 'lucide-react';

/** Copies a text; pages that came over plain HTTP from another machine have no clipboard of the new kind. */
async function copy(text: string) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement('textarea'), { value: text, readOnly: true });
  document.body.append(area);
  area.select();
  try {
    if (!document.execCommand('copy')) throw new Error('The browser does not copy.');
  } finally {
    area.remove();
  }
}

/** The button that copies a text. what: the noun in its name. */
export function Copy({ text, what }: { text: string | (() => string); what: string }) {
  const [done, setDone] = useState<'' | 'Copied' | 'Not copied'>('');
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(''), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button
      type="button"
      className="icon-btn small"
      aria-label={done || `Copy the ${what}`}
      title={done || `Copy the ${what}`}
      onClick={() => {
        copy(typeof text === 'string' ? text : text()).then(
          () => setDone('Copied'),
          () => setDone('Not copied'),
        );
      }}
    >
      {done === 'Copied' ? <Check size={14} aria-hidden="true" /> : <CopyIcon size={14} aria-hidden="true" />}
    </button>
  );
}
