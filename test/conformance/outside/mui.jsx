// A chat of MUI X Chat without MUI's looks. Its adapter reads the stream with a parser of its own.
import { ChatProvider, createAiSdkAdapter, useChat, useChatStatus } from '@mui/x-chat-headless';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

async function call(method, path, body, signal) {
  const answer = await fetch(path, {
    method,
    signal,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
}

/** The parts of a message, in the shape of MUI X Chat. */
const part = p =>
  p.toolCallId
    ? {
        type: 'dynamic-tool',
        toolInvocation: {
          toolCallId: p.toolCallId,
          toolName: p.toolName ?? p.type.slice('tool-'.length),
          state: p.state,
          input: p.input,
          output: p.output,
          errorText: p.errorText,
          approval: p.approval,
          approvalId: p.approval?.id,
        },
      }
    : p;

function gatewayAdapter(id) {
  let reading = false,
    tell = () => {};
  const history = async () =>
    (await (await call('GET', `/api/sessions/${id}/messages`)).json()).map(m => ({
      ...m,
      conversationId: id,
      status: 'sent',
      parts: m.parts.map(part),
    }));
  /** Waits for the end of a running turn that no stream of this page shows, and shows the conversation then. */
  const rest = async () => {
    const running = await call('GET', `/api/chat/${id}/stream`);
    if (running.status === 204) return;
    await running.text();
    tell({ type: 'message-updated', message: (await history()).at(-1) });
  };
  return {
    ...createAiSdkAdapter({
      async stream({ message, signal }) {
        reading = true;
        const { body } = await call('POST', '/api/chat', { id, message: { id: message.id, role: 'user', parts: message.parts } }, signal);
        const [shown, watched] = body.tee();
        void new Response(watched)
          .text()
          .catch(() => {})
          .finally(() => {
            reading = false;
          });
        return shown;
      },
    }),
    listMessages: async () => ({ messages: await history() }),
    subscribe({ onEvent }) {
      tell = onEvent;
      void rest();
    },
    async addToolApprovalResponse({ id: request, approved, reason }) {
      await call('POST', `/api/sessions/${id}/permissions/${request}`, { approved, reason });
      if (!reading) void rest();
    },
  };
}

function Part({ part: p, answer }) {
  if (p.type === 'text') return <p>{p.text}</p>;
  if (p.type === 'reasoning') return <em>{p.text}</em>;
  const tool = p.toolInvocation;
  if (!tool) return null;
  if (tool.state === 'approval-requested') {
    return [
      ['Allow', true],
      ['Deny', false],
    ].map(([name, approved]) => (
      <button key={name} onClick={() => answer({ id: tool.approvalId, approved })}>
        {name}
      </button>
    ));
  }
  return (
    <pre>
      {tool.toolName} {tool.state} {JSON.stringify(tool.output)}
    </pre>
  );
}

function Chat({ id }) {
  const { messages, sendMessage, stopStreaming, addToolApprovalResponse } = useChat();
  const { isStreaming, error } = useChatStatus();
  const [text, setText] = useState('');
  const stop = async () => {
    await call('POST', `/api/sessions/${id}/stop`);
    stopStreaming();
  };
  return (
    <main>
      {messages.map(m => (
        <article key={m.id}>
          {m.parts.map((p, i) => (
            <Part key={i} part={p} answer={addToolApprovalResponse} />
          ))}
        </article>
      ))}
      {error && <div role="alert">{error.message}</div>}
      <textarea value={text} onChange={e => setText(e.target.value)} />
      {isStreaming && <button onClick={stop}>Stop</button>}
      <button
        disabled={isStreaming || !text}
        onClick={() => {
          void sendMessage({ id: crypto.randomUUID(), parts: [{ type: 'text', text }] });
          setText('');
        }}
      >
        Send
      </button>
    </main>
  );
}

function Page({ id }) {
  const [adapter] = useState(() => gatewayAdapter(id));
  return (
    <ChatProvider adapter={adapter} initialActiveConversationId={id}>
      <Chat id={id} />
    </ChatProvider>
  );
}

export function mount(place, props) {
  const root = createRoot(place);
  root.render(<Page {...props} />);
  return () => root.unmount();
}
