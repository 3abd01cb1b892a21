import { ChatView } from './chat-view';
import { useAiChat } from './use-ai-chat';

export const AiChatPanel = ({ session }: { session: string }) => <ChatView chat={useAiChat(session)} />;
