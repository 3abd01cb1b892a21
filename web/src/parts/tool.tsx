import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import type { Answers } from '../answers';
import { Approval } from './approval';
import { Value } from './value';

const STATE: Record<string, [word: string, tone: string]> = {
  'input-streaming': ['writing', 'run'],
  'input-available': ['running', 'run'],
  'approval-requested': ['needs your permission', 'waits'],
  'approval-responded': ['answered', 'run'],
  'output-available': ['done', 'ok'],
  'output-error': ['failed', 'bad'],
  'output-denied': ['not run', 'bad'],
};

/** One line that says the most of an input, for the closed card. */
function gist(input: unknown): string {
  if (!input || typeof input !== 'object') return typeof input === 'string' ? input : '';
  const first = Object.values(input).find(v => typeof v === 'string' && v !== '');
  return typeof first === 'string' ? first.split('\n')[0]!.slice(0, 120) : '';
}

/** waits: the turn goes on only when somebody has answered, so nothing runs. */
interface Props { part: DynamicToolUIPart | ToolUIPart; session: string; waits: boolean; permit: Answers['permit'] }

export function Tool({ part, session, waits, permit }: Props) {
  const name = part.type === 'dynamic-tool' ? part.toolName : part.type.slice(5);
  const [word, tone] = (waits && part.state === 'input-available' ? ['waits', ''] : STATE[part.state]) ?? [part.state, 'run'];
  const preliminary = part.state === 'output-available' && part.preliminary;
  const asking = part.state === 'approval-requested';
  return (
    <div className="tool">
      <details open={asking || undefined}>
        <summary>
          <span className={`mark ${preliminary ? 'run' : tone}`} aria-hidden="true" />
          <span className="tool-name">{part.title || name}</span>
          <span className="gist">{gist(part.input)}</span>
          <span className={`state ${preliminary ? 'run' : tone}`}>{preliminary ? 'running' : word}</span>
        </summary>
        <Value label="Input" value={part.input} />
        {part.state === 'output-available' && <Value label="Output" value={part.output} />}
        {part.state === 'output-error' && <Value label="Error" value={part.errorText} />}
        {part.approval?.reason && <Value label="Reason" value={part.approval.reason} />}
      </details>
      {part.state === 'output-error' && <p className="tool-error">{part.errorText}</p>}
      {asking && part.approval && <Approval session={session} request={part.approval.id} permit={permit} />}
    </div>
  );
}
