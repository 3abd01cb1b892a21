import { lazy, memo, Suspense, useState, type ReactNode } from 'react';
import { ChevronRight } from 'lucide-react';
import { later } from '../later';
import { spoken, useSeconds } from '../clock';
import { Visible } from '../visible';
import { headOf, ICONS } from './head';
import { kindOf } from './kind';
import { factsOf, stateOf, WORDS, type ToolPart } from './state';

const body = later(() => import('./body'));
const Body = lazy(() => body().then(m => ({ default: m.Body })));

interface Props {
  part: ToolPart;
  /** A person must answer first, so nothing runs. */
  waits: boolean;
  /** The turn of the call has ended. */
  over: boolean;
  /** Its request can be answered no more. */
  past: boolean;
  diffs: string[];
  /** The answer of a person, or the card that asks for it and has the input. */
  decision?: ReactNode;
  /** What a sub-agent does for this call. */
  inside?: ReactNode;
}

/** The card of a call: one line, and more on a click. */
export const Tool = memo(function Tool({ part, waits, over, past, diffs, decision, inside }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const kind = kindOf(part),
    state = stateOf(part, waits, over, past),
    { verb, about, code } = headOf(part, kind);
  const runs = state === 'running' || state === 'writing';
  const seconds = useSeconds(part.toolCallId, state === 'running', factsOf(part));
  const Icon = ICONS[kind];
  const shown =
    chosen ??
    (state === 'asks' ||
      (kind === 'command' && state === 'running') ||
      (kind === 'edit' && state !== 'writing' && state !== 'denied') ||
      (kind === 'agent' && state === 'running'));
  return (
    <div className={`tool does-${kind} is-${state}`}>
      <details open={shown}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a control, by the keyboard too */}
        <summary
          onClick={e => {
            e.preventDefault();
            setChosen(!shown);
          }}
        >
          <Icon className="tool-icon" size={15} aria-hidden="true" />
          <span className="tool-name">
            <Visible text={verb} />
          </span>
          {about &&
            (code ? (
              <code className="tool-about">
                <Visible text={about} />
              </code>
            ) : (
              <span className="tool-about">
                <Visible text={about} />
              </span>
            ))}
          <span className="tool-meta">
            {seconds !== null && seconds > 0 && <span className="seconds">{spoken(seconds)}</span>}
            <span className={state === 'done' ? 'state unseen' : 'state'}>{WORDS[state]}</span>
            {runs && <span className="pulse" aria-hidden="true" />}
            <ChevronRight className="chevron" size={14} aria-hidden="true" />
          </span>
        </summary>
        {shown && state === 'asks' && inside && <div className="tool-body">{inside}</div>}
        {shown && state !== 'asks' && state !== 'writing' && (
          <div className="tool-body">
            <Suspense fallback={null}>
              <Body part={part} kind={kind} state={state} diffs={diffs} />
            </Suspense>
            {inside}
          </div>
        )}
      </details>
      {part.state === 'output-error' && state !== 'stopped' && !(shown && kind === 'command') && (
        <p className="tool-error" tabIndex={part.errorText.length > 400 ? 0 : undefined}>
          {part.errorText}
        </p>
      )}
      {decision}
    </div>
  );
});
