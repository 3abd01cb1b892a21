import { useState } from 'react';
import type { ChatSession, Message, Part, Prompt } from './types';

/** A chat, whichever hook it comes from. */
export function ChatView({ chat }: { chat: ChatSession }) {
  const [text, setText] = useState('');
  const busy = chat.status !== 'idle' && chat.status !== 'error';
  return (
    <section aria-label="Chat">
      <div role="log" aria-busy={busy}>{chat.messages.map(m => <Entry key={m.id} message={m} />)}</div>
      {chat.prompts.map(p => <Request key={p.id} prompt={p} answer={value => chat.answer(p, value)} />)}
      <p role="status">{chat.status}</p>
      {chat.error && <p role="alert">{chat.error} {chat.retry && <button onClick={chat.retry}>Retry</button>}</p>}
      <form onSubmit={e => { e.preventDefault(); if (text.trim()) chat.send(text.trim()); setText(''); }}>
        <input aria-label="Your message" value={text} onChange={e => setText(e.target.value)} />
        <button type="submit">Send</button>
        {(busy || chat.prompts.length > 0) && <button type="button" onClick={chat.abort}>Stop</button>}
      </form>
    </section>
  );
}

const Entry = ({ message }: { message: Message }) => (
  <article aria-label={message.role}>{message.parts.map((p, i) => <PartView key={i} part={p} />)}</article>
);

function PartView({ part }: { part: Part }) {
  switch (part.type) {
    case 'text': return <p>{part.text}</p>;
    case 'error': return <p role="alert">{part.message}</p>;
    case 'tool-call': return <pre>{`${part.toolName}: ${part.status}`}</pre>;
  }
}

function Request({ prompt, answer }: { prompt: Prompt; answer: (value: string | boolean) => void }) {
  const [text, setText] = useState('');
  return (
    <fieldset>
      <legend>{prompt.title}</legend>
      {prompt.body && <p>{prompt.body}</p>}
      {prompt.actions.map(a => <button key={a.id} onClick={() => answer(prompt.type === 'approval' ? a.id === 'approve' : a.label)}>{a.label}</button>)}
      {prompt.type === 'question' && (
        <form onSubmit={e => { e.preventDefault(); answer(text); }}>
          <input aria-label="Your answer" value={text} onChange={e => setText(e.target.value)} /><button type="submit">Answer</button>
        </form>
      )}
    </fieldset>
  );
}
