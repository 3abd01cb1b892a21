import { lazy, Suspense } from 'react';
import { Code } from '../code/code';
import { languageOfFile } from '../code/language';
import { Json } from '../json';
import { Link } from '../markdown/inline';
import { Markdown } from '../markdown/markdown';
import { Long } from '../long';
import { Picture } from '../picture';
import { PlanList, entriesOf } from '../plan';
import { Terminal } from '../terminal';
import { commandIn, inputOf, pathIn, text, type Kind } from './kind';
import { exitIn, fileIn, textIn, valueIn } from './output';
import { nameOf, type State, type ToolPart } from './state';

const Diff = lazy(() => import('../diff').then(m => ({ default: m.Diff })));
const EditInput = lazy(() => import('./edit').then(m => ({ default: m.EditInput })));

interface Props {
  part: ToolPart;
  kind: Kind;
  state: State;
  /** The diffs that the agent has reported for this call. */
  diffs: string[];
}

/** What stands in an opened card. */
export function Body({ part, kind, state, diffs }: Props) {
  const input = inputOf(part.input), output = part.state === 'output-available' ? part.output : undefined;
  switch (kind) {
    case 'command': return <Command part={part} state={state} />;
    case 'edit': return (
      <Suspense fallback={<p className="side-note">Loading the changes…</p>}>
        {diffs.length ? diffs.map((d, i) => <Diff key={i} patch={d} heads={diffs.length > 1} />) : <EditInput input={part.input} />}
        <Plainly output={output} name={nameOf(part)} quiet />
      </Suspense>
    );
    case 'read': {
      const of = pathIn(input), found = textIn(output);
      if (found === null) return <Value label="Returned" value={output} name={nameOf(part)} />;
      return found ? <Long text={fileIn(found)} name={of?.split('/').at(-1) ?? 'file'}>{shown => <Code code={shown} title={languageOfFile(of) ?? 'text'} language={languageOfFile(of)} />}</Long> : null;
    }
    case 'fetch': {
      const url = text(input, 'url'), found = textIn(output);
      return (
        <>
          {url && <p className="fetched"><Link href={url}>{url}</Link></p>}
          {found === null ? <Value label="Returned" value={output} name={nameOf(part)} /> : <Long text={found} name="page.md">{shown => <div className="page-text" tabIndex={0} role="group" aria-label="Text of the page"><Markdown text={shown} /></div>}</Long>}
        </>
      );
    }
    case 'plan': {
      const entries = entriesOf(part.input);
      return entries ? <PlanList entries={entries} /> : <Whole part={part} output={output} />;
    }
    case 'agent': {
      const task = text(input, 'prompt', 'objective', 'task'), found = textIn(output);
      return (
        <>
          {task && <section className="value"><p className="label">Task</p><Markdown text={task} /></section>}
          {found && <section className="value"><p className="label">Report</p><Long text={found} name="report.md">{shown => <Markdown text={shown} />}</Long></section>}
        </>
      );
    }
    default: return <Whole part={part} output={output} />;
  }
}

function Command({ part, state }: { part: ToolPart; state: State }) {
  const command = commandIn(inputOf(part.input)), output = part.state === 'output-available' ? part.output : part.state === 'output-error' ? part.errorText : undefined;
  const written = textIn(output), code = exitIn(output), where = text(inputOf(part.input), 'cwd', 'workdir');
  return (
    <>
      {command && <pre className="command" tabIndex={0} role="group" aria-label="Command"><code>{command}</code></pre>}
      {where && <p className="where">in {where}</p>}
      {written === null ? <Value label="Returned" value={output} name="output" /> : written !== '' && state !== 'stopped' && <Terminal text={written} running={state === 'running'} name="output" />}
      {code !== null && code !== 0 && <p className="exit">It ended with {code}.</p>}
    </>
  );
}

/** Input and output of a tool that the page does not know. */
function Whole({ part, output }: { part: ToolPart; output: unknown }) {
  return (
    <>
      {Object.keys(inputOf(part.input)).length > 0 || typeof part.input === 'string' ? <Value label="Input" value={part.input} name={`${nameOf(part)}-input`} /> : null}
      {output !== undefined && <Value label="Returned" value={output} name={nameOf(part)} />}
    </>
  );
}

function Plainly({ output, name, quiet }: { output: unknown; name: string; quiet: boolean }) {
  const found = textIn(output);
  return found && (!quiet || found.length > 200) ? <Value label="Returned" value={output} name={name} /> : null;
}

/** A value with its name: a picture, a text, or a tree. */
export function Value({ label, value, name }: { label: string; value: unknown; name: string }) {
  const found = textIn(value), tree = found === null ? value : valueIn(found);
  const pictures = Array.isArray(value) ? value.map(inputOf).filter(v => v.type === 'image' && typeof v.data === 'string') : [];
  return (
    <section className="value">
      <p className="label">{label}</p>
      {pictures.map((p, i) => <Picture key={i} url={`data:${text(p, 'mimeType', 'media_type') ?? 'image/png'};base64,${p.data as string}`} />)}
      {tree !== undefined && !pictures.length ? <Json value={tree} /> : found !== null && <Long text={found || '(empty)'} name={`${name}.txt`}>{shown => <pre tabIndex={0} role="group" aria-label={label}>{shown}</pre>}</Long>}
    </section>
  );
}
