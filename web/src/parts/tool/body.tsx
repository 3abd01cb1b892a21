import { lazy, Suspense } from 'react';
import { Code } from '../code/code';
import { languageOfFile } from '../code/language';
import { Input } from '../input';
import { Json } from '../json';
import { Link } from '../markdown/inline';
import { Markdown } from '../markdown/markdown';
import { Long } from '../long';
import { Picture } from '../picture';
import { Terminal } from '../terminal';
import { Visible } from '../visible';
import { inputOf, pathIn, text, type Kind } from './kind';
import { exitIn, fileIn, textIn, valueIn } from './output';
import { factsOf, nameOf, type State, type ToolPart } from './state';

const Edit = lazy(() => import('./edit').then(m => ({ default: m.Edit })));

interface Props {
  part: ToolPart;
  kind: Kind;
  state: State;
  /** The diffs that the agent has reported for this call. */
  diffs: string[];
}

const URL_KEY = ['url'];

/** What stands in an opened card: the whole input, and the output by its kind. */
export function Body({ part, kind, state, diffs }: Props) {
  const fields = inputOf(part.input),
    output = part.state === 'output-available' ? part.output : undefined,
    name = nameOf(part);
  switch (kind) {
    case 'command':
      return <Command part={part} state={state} />;
    case 'edit':
      return (
        <Suspense fallback={<p className="side-note">Loading the changes…</p>}>
          <Edit part={part} diffs={diffs} />
          <Plainly output={output} name={name} quiet />
        </Suspense>
      );
    case 'read': {
      const of = pathIn(fields),
        found = textIn(output);
      return (
        <>
          <Given part={part} />
          {found === null ? (
            <Value label="Returned" value={output} name={name} />
          ) : (
            found && (
              <Long text={fileIn(found)} name={of?.split('/').at(-1) ?? 'file'}>
                {shown => <Code code={shown} title={languageOfFile(of) ?? 'text'} language={languageOfFile(of)} />}
              </Long>
            )
          )}
        </>
      );
    }
    case 'fetch': {
      const url = factsOf(part).input_text ? undefined : text(fields, 'url'),
        found = textIn(output);
      return (
        <>
          {url && (
            <p className="fetched">
              <Link href={url}>
                <Visible text={url} />
              </Link>
            </p>
          )}
          <Given part={part} without={url ? URL_KEY : undefined} />
          {found === null ? (
            <Value label="Returned" value={output} name={name} />
          ) : (
            <Long text={found} name="page.md">
              {shown => (
                <div className="page-text" tabIndex={0} role="group" aria-label="Text of the page">
                  <Markdown text={shown} />
                </div>
              )}
            </Long>
          )}
        </>
      );
    }
    case 'agent': {
      const found = textIn(output);
      return (
        <>
          <Given part={part} />
          {found && (
            <section className="value">
              <p className="label">Report</p>
              <Long text={found} name="report.md">
                {shown => <Markdown text={shown} />}
              </Long>
            </section>
          )}
        </>
      );
    }
    default:
      return (
        <>
          <Given part={part} />
          {output !== undefined && <Value label="Returned" value={output} name={name} />}
        </>
      );
  }
}

/** The input of a call, with nothing where there is none. */
function Given({ part, without }: { part: ToolPart; without?: readonly string[] }) {
  const { input } = part,
    inputText = factsOf(part).input_text,
    left =
      inputText !== undefined ||
      (input !== null && typeof input === 'object'
        ? Object.keys(input).filter(key => !without?.includes(key)).length > 0
        : input !== undefined && input !== null);
  return (
    left && (
      <section className="value">
        <Input input={input} inputText={inputText} without={without} name={`${nameOf(part)}-input`} />
      </section>
    )
  );
}

function Command({ part, state }: { part: ToolPart; state: State }) {
  const output = part.state === 'output-available' ? part.output : part.state === 'output-error' ? part.errorText : undefined;
  const written = textIn(output),
    code = exitIn(output);
  return (
    <>
      <Given part={part} />
      {written === null ? (
        <Value label="Returned" value={output} name="output" />
      ) : (
        written !== '' && state !== 'stopped' && <Terminal text={written} running={state === 'running'} name="output" />
      )}
      {code !== null && code !== 0 && <p className="exit">It ended with {code}.</p>}
    </>
  );
}

function Plainly({ output, name, quiet }: { output: unknown; name: string; quiet: boolean }) {
  const found = textIn(output);
  return found && (!quiet || found.length > 200) ? <Value label="Returned" value={output} name={name} /> : null;
}

/** A value with its name: a picture, a text, or a tree. */
export function Value({ label, value, name }: { label: string; value: unknown; name: string }) {
  const found = textIn(value),
    tree = found === null ? value : valueIn(found);
  const pictures = Array.isArray(value) ? value.map(inputOf).filter(v => v.type === 'image' && typeof v.data === 'string') : [];
  return (
    <section className="value">
      <p className="label">{label}</p>
      {pictures.map((p, i) => (
        <Picture key={i} url={`data:${text(p, 'mimeType', 'media_type') ?? 'image/png'};base64,${p.data as string}`} />
      ))}
      {tree !== undefined && !pictures.length ? (
        <Json value={tree} />
      ) : (
        found !== null && (
          <Long text={found || '(empty)'} name={`${name}.txt`}>
            {shown => (
              <pre tabIndex={0} role="group" aria-label={label}>
                {shown}
              </pre>
            )}
          </Long>
        )
      )}
    </section>
  );
}
