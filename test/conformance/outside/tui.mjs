// The terminal UI of @ai-sdk/tui on a gateway: node tui.mjs BASE TOKEN [SESSION]. Without a session it is wholly stock.
import { runAgentTUI } from '@ai-sdk/tui';
import { DefaultChatTransport } from 'ai';

const [base, token, session] = process.argv.slice(2);
const prepareSendMessagesRequest = ({ messages }) => {
  const newest = messages.at(-1);
  return { body: newest.role === 'user' ? { id: session, message: { ...newest, id: crypto.randomUUID() } } : { id: session, messages } };
};

await runAgentTUI({
  title: 'Tributary',
  transport: new DefaultChatTransport({
    api: `${base}/api/chat?client=7`,
    headers: { authorization: `Bearer ${token}` },
    ...(session && { prepareSendMessagesRequest }),
  }),
});
