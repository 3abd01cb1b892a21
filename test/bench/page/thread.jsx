// A thread of assistant-ui's own primitives, with its Markdown, over the same session as the gateway's page.
import { useChat } from '@ai-sdk/react';
import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive } from '@assistant-ui/react';
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { MarkdownTextPrimitive } from '@assistant-ui/react-markdown';
import { createRoot } from 'react-dom/client';
import remarkGfm from 'remark-gfm';

const Markdown = () => <MarkdownTextPrimitive remarkPlugins={[remarkGfm]} />;
const Message = () => (
  <article className="message">
    <MessagePrimitive.Parts components={{ Text: Markdown }} />
  </article>
);
const messages = { UserMessage: Message, AssistantMessage: Message };

function Thread({ id, history }) {
  const runtime = useAISDKRuntime(useChat({ id, messages: history }));
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <h1>Chat</h1>
        <ThreadPrimitive.Viewport className="scroll">
          <ThreadPrimitive.Messages components={messages} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Your message" submitMode="enter" />
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

/** All pages of the history, the oldest first: assistant-ui has no pages of its own. */
async function read(id) {
  const pages = [];
  for (let address = `/api/sessions/${id}/messages?client=7&limit=1000`; address; ) {
    const res = await fetch(address);
    if (!res.ok) break;
    pages.unshift(await res.json());
    address = /<([^>]+)>; rel="prev"/.exec(res.headers.get('link') ?? '')?.[1];
  }
  return pages.flat();
}

const id = decodeURIComponent(location.hash.slice(1));
// Without await at the top level, which the parser of React's rules does not know: it passes over such a file without a word.
void read(id).then(history => createRoot(document.getElementById('root')).render(<Thread id={id} history={history} />));
