import { requestText, textOf, type TributaryTransport, type TributaryUIMessage } from '@tributary/chat';
import { useTributaryChat } from '@tributary/chat/react';

export function Chat({ id, transport }: { id: string; transport?: TributaryTransport }) {
  const chat = useTributaryChat({ id, transport });
  return (
    <main>
      {chat.earlier && <button onClick={chat.earlier}>Earlier messages</button>}
      {chat.messages.map(message => <Message key={message.id} message={message} />)}
      {chat.requests.map(request => (
        <fieldset key={request.id}>
          <pre style={{ whiteSpace: 'pre-wrap', unicodeBidi: 'isolate' }}>{requestText(request)}</pre>
          {request.kind === 'permission'
            ? [true, false].map(approved => <button key={String(approved)} onClick={() => chat.answer(request, { approved })}>{approved ? 'Allow' : 'Deny'}</button>)
            : request.choices?.map(({ label }) => <button key={label} onClick={() => chat.answer(request, { value: label })}>{label}</button>)}
        </fieldset>
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      {!chat.connected && <p role="status">The gateway cannot be reached. Trying again…</p>}
      <form onSubmit={event => { event.preventDefault(); void chat.submit(); }}>
        <input aria-label="Your message" value={chat.draft} onChange={event => chat.setDraft(event.target.value)} />
        <button disabled={chat.loading || !chat.draft}>Send</button>
        {chat.busy && <button type="button" onClick={chat.stop}>Stop</button>}
      </form>
    </main>
  );
}

function Message({ message }: { message: TributaryUIMessage }) {
  if (message.role === 'user') return <p><b>{textOf(message)}</b></p>;
  return (
    <article>
      {message.parts.map((part, i) => {
        if (part.type === 'text') return <p key={i}>{part.text}</p>;
        if (part.type === 'dynamic-tool') return <pre key={i}>{part.toolName}: {part.state}</pre>;
        if (part.type === 'data-error') return <p key={i} role="alert">{part.data.message}</p>;
        return null;
      })}
    </article>
  );
}
