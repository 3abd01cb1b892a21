// Components that hand what the hook returns to a test, and one whose child sends a prompt as early as React allows.
import type { TributaryUIMessage } from '@tributary/chat';
import { useTributaryChat, type TributaryChat, type TributaryChatOptions } from '@tributary/chat/react';
import { useLayoutEffect } from 'react';

type M = TributaryUIMessage;

export function Probe({ options, give }: { options: TributaryChatOptions<M>; give: (chat: TributaryChat<M>) => void }) {
  give(useTributaryChat<M>(options));
  return null;
}

function Sends({ chat }: { chat: TributaryChat<M> }) {
  useLayoutEffect(() => {
    void chat.sendMessage({ text: 'hello' });
  }, []);
  return null;
}

export function Eager({ options }: { options: TributaryChatOptions<M> }) {
  return <Sends chat={useTributaryChat<M>(options)} />;
}
