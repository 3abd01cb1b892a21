import { useState } from 'react';
import { ChevronRight } from 'lucide-react';
import { spoken, useSeconds } from './clock';
import { Markdown } from './markdown/markdown';

/** The agent's thoughts: open while they come, folded afterwards, unless the reader says otherwise. id names them within the page. */
export function Reasoning({ id, text, live }: { id: string; text: string; live: boolean }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const seconds = useSeconds(`thought ${id}`, live);
  if (!text && !live) return null;
  const open = chosen ?? live;
  return (
    <details className="folded reasoning" open={open}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a control, by the keyboard too */}
      <summary
        onClick={e => {
          e.preventDefault();
          setChosen(!open);
        }}
      >
        <ChevronRight className="chevron" size={14} aria-hidden="true" />
        {live ? 'Thinking' : seconds ? `Thought for ${spoken(seconds)}` : 'Thoughts'}
        {live && <span className="pulse" aria-hidden="true" />}
      </summary>
      {open && (
        <div className="thoughts" tabIndex={0} role="group" aria-label="Thoughts">
          <Markdown text={text} live={live} />
        </div>
      )}
    </details>
  );
}
