// A page of an app that uses @tributary/chat/react: what a person sees of a conversation, and all that they can do.
import { textOf, type TributaryTransport, type TributaryUIMessage } from '@tributary/chat';
import { useTributaryChat, type TributaryChatOptions } from '@tributary/chat/react';

interface Props extends Pick<TributaryChatOptions<TributaryUIMessage>, 'fresh' | 'onBegin' | 'onRefused' | 'onFinish'> {
  id: string;
  transport?: TributaryTransport;
  agent?: string;
  onArrival?: () => void;
}

export function Page({ onArrival, ...options }: Props) {
  const chat = useTributaryChat<TributaryUIMessage>(options);
  if (chat.loading) return <p>loading</p>;
  return (
    <>
      {chat.earlier && (
        <button onClick={() => void (onArrival ? chat.conversation.earlier({ onArrival }) : chat.earlier!())}>Earlier</button>
      )}
      {chat.messages.map(message => (
        <article key={message.id} className={message.role}>
          {message.role === 'user'
            ? textOf(message)
            : message.parts.map((part, i) => {
                if (part.type === 'text') return <p key={i}>{part.text}</p>;
                if (part.type === 'data-plan')
                  return (
                    <ul key={i}>
                      {part.data.entries.map(e => (
                        <li key={e.content}>{e.status}</li>
                      ))}
                    </ul>
                  );
                if (part.type === 'dynamic-tool')
                  return (
                    <pre key={i}>
                      {part.toolName}: {part.state}
                    </pre>
                  );
                return null;
              })}
        </article>
      ))}
      {chat.requests.map(request =>
        request.kind === 'question' ? (
          <p key={request.id}>
            {request.choices?.map(({ label }) => (
              <button key={label} onClick={() => void chat.answer(request, { value: label })}>
                {label}
              </button>
            ))}
          </p>
        ) : (
          <p key={request.id}>
            <button onClick={() => void chat.answer(request, { approved: true })}>Allow</button>
            <button onClick={() => void chat.answer(request, { option: 'allow_always' })}>Always</button>
            <button onClick={() => void chat.answer(request, { approved: true, updated_input: { command: 'echo edited' } })}>
              Allow edited
            </button>
            <button onClick={() => void chat.answer(request, { approved: false, reason: 'not today' }).catch(() => {})}>Deny</button>
          </p>
        ),
      )}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      {!chat.connected && <p role="status">away</p>}
      <form
        onSubmit={event => {
          event.preventDefault();
          void chat.submit().catch(() => {});
        }}
      >
        <input name="text" value={chat.draft} onChange={event => chat.setDraft(event.target.value)} />
        {chat.busy && (
          <button type="button" onClick={() => void chat.stop()}>
            Stop
          </button>
        )}
        <button type="button" onClick={() => void chat.regenerate()}>
          Again
        </button>
        <button type="button" onClick={() => void chat.sendMessage({ text: 'edited', messageId: chat.messages[0]!.id })}>
          Edit
        </button>
        <button type="button" onClick={chat.conversation.refresh}>
          Refresh
        </button>
      </form>
    </>
  );
}
