import { lazy, Suspense } from 'react';
import { ChevronRight, CircleAlert, CornerDownRight, FilePen, Info } from 'lucide-react';
import { entriesOf, Plan } from './plan';
import { Json } from './json';

const Diff = lazy(() => import('./diff').then(m => ({ default: m.Diff })));

/** The sentence in a data part, if it holds one. */
export const sentence = (data: unknown): string | null => {
  if (typeof data === 'string') return data;
  const d = (data ?? {}) as Record<string, unknown>;
  return [d.message, d.text, d.error, d.errorText, d.sentence].find((s): s is string => typeof s === 'string') ?? null;
};

export interface FileChangeData {
  path?: string;
  change?: string;
  diff?: string;
  tool_call_id?: string;
}

/** A file that the agent has changed, with the change on a click. */
function FileChange({ data }: { data: FileChangeData }) {
  return (
    <details className="tool edit">
      <summary>
        <FilePen className="tool-icon" size={15} aria-hidden="true" />
        <span className="tool-name">{data.change ?? 'changed'}</span>
        <code className="tool-about">{data.path}</code>
        <span className="tool-meta">
          <ChevronRight className="chevron" size={14} aria-hidden="true" />
        </span>
      </summary>
      <div className="tool-body">
        {data.diff ? (
          <Suspense fallback={null}>
            <Diff patch={data.diff} heads={false} />
          </Suspense>
        ) : (
          <p className="where">The agent did not say what changed.</p>
        )}
      </div>
    </details>
  );
}

/** What is no text and no tool: errors and notices as sentences, the rest folded. */
export function DataPart({ name, data }: { name: string; data: unknown }) {
  const said = sentence(data);
  switch (name) {
    case 'error':
      return (
        <p className="failure">
          <CircleAlert size={15} aria-hidden="true" />
          <span>{said ?? JSON.stringify(data)}</span>
        </p>
      );
    case 'notice':
      if (said)
        return (
          <p className="notice">
            <Info size={15} aria-hidden="true" />
            <span>{said}</span>
          </p>
        );
      break;
    case 'agent-status':
    case 'usage':
    case 'modes':
    case 'models':
    case 'mode':
    case 'commands':
      return null;
    case 'file-change':
      return <FileChange data={(data ?? {}) as FileChangeData} />;
    case 'steer': {
      const by = (data as { by?: string } | null)?.by;
      return (
        <p className="steer">
          <CornerDownRight size={15} aria-hidden="true" />
          <span>
            <span className="steer-by">{by || 'You'}, meanwhile:</span> {said}
          </span>
        </p>
      );
    }
    case 'plan': {
      const entries = entriesOf(data);
      if (entries) return <Plan entries={entries} />;
      break;
    }
  }
  return (
    <details className="folded data">
      <summary>
        <ChevronRight className="chevron" size={14} aria-hidden="true" />
        {name.replaceAll('-', ' ')}
        {said ? `: ${said.slice(0, 80)}` : ''}
      </summary>
      <Json value={data} />
    </details>
  );
}
