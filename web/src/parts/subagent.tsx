import { useState } from 'react';
import { Bot, ChevronRight } from 'lucide-react';
import { Markdown } from './markdown/markdown';

export interface SubagentData {
  tool_call_id?: string;
  parent_id?: string;
  name?: string;
  text?: string;
  status?: string;
}

/** A sub-agent with those that work for it. */
export interface Team {
  id: string;
  data: SubagentData;
  inside: Team[];
}

const WORD: Record<string, string> = { running: 'works', completed: 'done', failed: 'failed', denied: 'not run', canceled: 'stopped' };

/** A sub-agent at work: what it says and who works for it, on a click once it is done. */
export function Subagent({ data, inside = [] }: { data: SubagentData; inside?: Team[] }) {
  const running = data.status === 'running';
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? running;
  return (
    <details className={`folded subagent ${data.status ?? ''}`} open={open}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a control, by the keyboard too */}
      <summary
        onClick={e => {
          e.preventDefault();
          setChosen(!open);
        }}
      >
        <ChevronRight className="chevron" size={14} aria-hidden="true" />
        <Bot size={15} aria-hidden="true" /> {data.name || 'Sub-agent'}
        <span className="state">{WORD[data.status ?? ''] ?? data.status}</span>
        {running && <span className="pulse" aria-hidden="true" />}
      </summary>
      {open && (data.text || !inside.length) && (
        <div className="thoughts" tabIndex={0} role="group" aria-label="Text of the sub-agent">
          <Markdown text={data.text ?? ''} live={running} />
        </div>
      )}
      {open && inside.map(team => <Subagent key={team.id} data={team.data} inside={team.inside} />)}
    </details>
  );
}
