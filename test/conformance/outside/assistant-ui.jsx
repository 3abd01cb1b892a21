// A chat of assistant-ui's primitives around its own transport, which sends its settings beside the messages.
import { useChat } from '@ai-sdk/react';
import { AssistantChatTransport, useAISDKRuntime } from '@assistant-ui/ai-sdk';
import { AssistantRuntimeProvider, ComposerPrimitive, ErrorPrimitive, MessagePrimitive, ThreadPrimitive } from '@assistant-ui/react';
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

function Tool({ toolName, result, approval, respondToApproval, status }) {
  if (approval && approval.approved === undefined && status.type === 'requires-action') {
    return [
      ['Allow', true],
      ['Deny', false],
    ].map(([name, approved]) => (
      <button key={name} onClick={() => respondToApproval({ approved })}>
        {name}
      </button>
    ));
  }
  return (
    <pre>
      {toolName} {JSON.stringify(result)}
    </pre>
  );
}

const parts = { Text: ({ text }) => <p>{text}</p>, Reasoning: ({ text }) => <em>{text}</em>, tools: { Fallback: Tool } };
const Message = () => (
  <article>
    <MessagePrimitive.Parts components={parts} />
    <MessagePrimitive.Error>
      <ErrorPrimitive.Root>
        <ErrorPrimitive.Message />
      </ErrorPrimitive.Root>
    </MessagePrimitive.Error>
  </article>
);

function Chat({ id, history }) {
  const [transport] = useState(
    () =>
      new AssistantChatTransport({
        api: '/api/chat',
        prepareSendMessagesRequest: ({ body, messages, trigger, messageId }) => ({ body: { ...body, id, messages, trigger, messageId } }),
      }),
  );
  const chat = useChat({
    id,
    messages: history,
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const stop = async () => {
    await fetch(`/api/sessions/${id}/stop`, { method: 'POST' });
    await chat.stop();
  };
  const runtime = useAISDKRuntime({ ...chat, stop }, { cancelPendingToolCallsOnSend: false });
  transport.setRuntime(runtime);
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage: Message, AssistantMessage: Message }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

export function mount(place, props) {
  const root = createRoot(place);
  root.render(<Chat {...props} />);
  return () => root.unmount();
}
