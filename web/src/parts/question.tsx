import { useState } from 'react';
import type { ToolUIPart } from 'ai';
import type { Answers } from '../answers';

interface Asked { id: string | null; text: string; choices: { label: string; description?: string }[]; multiple: boolean }

function read(input: unknown): Asked {
  const q = (input && typeof input === 'object' ? input : {}) as Record<string, unknown>;
  const list = [q.choices, q.options].find(Array.isArray) ?? [];
  return {
    id: typeof q.question_id === 'string' ? q.question_id : null,
    text: [q.text, q.question, q.header].find((s): s is string => typeof s === 'string' && s !== '') ?? 'The agent has a question.',
    choices: list.map(c => (typeof c === 'string' ? { label: c } : { label: String(c?.label ?? c?.name ?? c?.value ?? ''), description: c?.description })).filter(c => c.label),
    multiple: q.multiple === true,
  };
}

const said = (output: unknown): string => {
  if (typeof output === 'string') return output;
  const values = (output as { values?: unknown })?.values;
  return Array.isArray(values) ? values.join(', ') : JSON.stringify(output ?? '');
};

export function Question({ part, reply }: { part: ToolUIPart; reply: Answers['reply'] }) {
  const asked = read(part.input);
  const [text, setText] = useState('');
  const [ticked, setTicked] = useState<string[]>([]);
  const [sent, setSent] = useState(false);
  if (part.state === 'output-available') return <p className="answered">{asked.text} <strong>{said(part.output)}</strong></p>;
  if (part.state === 'output-error') return <p className="answered">{asked.text} <em>{part.errorText}</em></p>;
  if (part.state !== 'input-available') return null;
  const answer = async (value: string | string[]) => {
    setSent(true);
    try { await reply(asked.id ?? part.toolCallId, value); } finally { setSent(false); }
  };
  const toggle = (label: string) => setTicked(t => (t.includes(label) ? t.filter(x => x !== label) : [...t, label]));
  return (
    <form className="ask" aria-label="Question" onSubmit={e => {
      e.preventDefault();
      const own = text.trim();
      if (asked.multiple && (ticked.length || own)) void answer(own ? [...ticked, own] : ticked);
      else if (own) void answer(own);
    }}>
      <p>{asked.text}</p>
      <div className="buttons">
        {asked.choices.map(c => (
          <button
            key={c.label} type="button" title={c.description} disabled={sent} aria-pressed={asked.multiple ? ticked.includes(c.label) : undefined}
            onClick={() => { if (asked.multiple) toggle(c.label); else void answer(c.label); }}
          >{c.label}</button>
        ))}
      </div>
      <div className="reply">
        <input value={text} disabled={sent} aria-label="Your answer" placeholder={asked.choices.length ? 'Or say something else' : 'Your answer'} onChange={e => setText(e.target.value)} />
        <button className="yes" disabled={sent || !(text.trim() || ticked.length)}>Answer</button>
      </div>
    </form>
  );
}
