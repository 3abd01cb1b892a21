// A chat with the request shape of Vercel's chatbot template 3.1.0 (hooks/use-active-chat.tsx). This file is a re-statement in
// our own words, not the template's code: which requests it sends, when it sends by itself, when it resumes, and its pinned releases.
import { DefaultChatTransport } from 'chatbot-ai';
import { useChat } from 'chatbot-react';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const responded = part => part.state === 'approval-responded';

// The template sends an allowed approval at once. A refusal stays in the page until the next message.
const sendAutomaticallyWhen = ({ messages }) => !!messages.at(-1)?.parts.some(part => responded(part) && part.approval?.approved === true);

// A first approval makes each later request carry the whole conversation. Other requests carry the newest message only.
function prepareSendMessagesRequest({ id, messages, body }) {
  const newest = messages.at(-1);
  const whole = newest?.role !== 'user' || messages.some(m => m.parts?.some(part => responded(part) || part.state === 'output-denied'));
  return {
    body: {
      id,
      ...(whole ? { messages } : { message: newest }),
      selectedChatModel: 'maker/model',
      selectedVisibilityType: 'private',
      ...body,
    },
  };
}

function Part({ part, answer }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'reasoning') return <em>{part.text}</em>;
  if (!part.toolCallId) return null;
  const id = part.approval?.id;
  if (part.state === 'approval-requested') {
    return (
      <>
        <button onClick={() => answer({ id, approved: false, reason: 'Denied in the page' })}>Deny</button>
        <button onClick={() => answer({ id, approved: true })}>Allow</button>
      </>
    );
  }
  return (
    <pre>
      {part.toolName ?? part.type} {part.state} {JSON.stringify(part.output)}
    </pre>
  );
}

function Chat({ id, history }) {
  const [text, setText] = useState('');
  const { messages, setMessages, sendMessage, status, error, stop, resumeStream, addToolApprovalResponse } = useChat({
    id,
    messages: history,
    generateId: () => crypto.randomUUID(),
    sendAutomaticallyWhen,
    transport: new DefaultChatTransport({ api: '/api/chat', prepareSendMessagesRequest }),
  });
  // The template asks for the running turn only where the history ends with the user's message.
  useEffect(() => {
    if (history.at(-1)?.role === 'user') void resumeStream();
  }, [history, resumeStream]);
  const busy = status === 'submitted' || status === 'streaming';
  return (
    <main>
      {messages.map(m => (
        <article key={m.id}>
          {m.parts.map((part, i) => (
            <Part key={i} part={part} answer={addToolApprovalResponse} />
          ))}
        </article>
      ))}
      {error && <div role="alert">{error.message}</div>}
      <textarea value={text} onChange={e => setText(e.target.value)} />
      {busy && (
        <button
          onClick={() => {
            void stop();
            setMessages(all => all);
          }}
        >
          Stop
        </button>
      )}
      <button
        disabled={busy || !text}
        onClick={() => {
          void sendMessage({ role: 'user', parts: [{ type: 'text', text }] });
          setText('');
        }}
      >
        Send
      </button>
    </main>
  );
}

export function mount(place, props) {
  const root = createRoot(place);
  root.render(<Chat {...props} />);
  return () => root.unmount();
}
