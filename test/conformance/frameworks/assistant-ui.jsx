// Two chat pages of assistant-ui's own primitives: one around the stock runtime, one around useChat with an id of the app's own.
import { useChat } from '@ai-sdk/react';
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  ErrorPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
} from '@assistant-ui/react';
import { useAISDKRuntime, useChatRuntime } from '@assistant-ui/react-ai-sdk';
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { createRoot } from 'react-dom/client';

const sendAutomaticallyWhen = c => lastAssistantMessageIsCompleteWithApprovalResponses(c) || lastAssistantMessageIsCompleteWithToolCalls(c);

function Tool({ toolName, args, result, approval, respondToApproval, status, addResult }) {
  if (toolName === 'AskUser' && status.type === 'requires-action') {
    return args.choices.map(c => (
      <button key={c.label} onClick={() => addResult(c.label)}>
        {c.label}
      </button>
    ));
  }
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
const messages = { UserMessage: Message, AssistantMessage: Message };

const Thread = () => (
  <ThreadPrimitive.Root data-session={useAuiState(s => s.threadListItem.remoteId ?? s.threadListItem.id)}>
    <ThreadPrimitive.Messages components={messages} />
    <ComposerPrimitive.Root>
      <ComposerPrimitive.Input />
      <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
      <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
    </ComposerPrimitive.Root>
  </ThreadPrimitive.Root>
);

function Stock() {
  const runtime = useChatRuntime({ sendAutomaticallyWhen });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Thread />
    </AssistantRuntimeProvider>
  );
}

function Own({ id, history }) {
  const chat = useChat({ id, messages: history, resume: true, sendAutomaticallyWhen });
  const stop = async () => {
    await fetch(`/api/sessions/${id}/stop`, { method: 'POST' });
    await chat.stop();
  };
  const runtime = useAISDKRuntime({ ...chat, stop });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Thread />
    </AssistantRuntimeProvider>
  );
}

const mounted = Page => (place, props) => {
  const root = createRoot(place);
  root.render(<Page {...props} />);
  return () => root.unmount();
};
export const mountStock = mounted(Stock),
  mountOwn = mounted(Own);
