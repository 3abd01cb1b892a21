import { ChatView } from './chat-view';
import { useChat } from './use-chat';

export const ChatPanel = ({ session }: { session: string }) => <ChatView chat={useChat(session)} />;
