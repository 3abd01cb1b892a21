// Components that hand what the hook returns to a test, and one whose child sends a prompt as early as React allows.
import type { TributaryUIMessage } from '@tributary/chat';
import { useTributaryChat, type TributaryChat, type TributaryChatOptions } from '@tributary/chat/react';
import { useLayoutEffect } from 'react';

type M = TributaryUIMessage;

export function Probe({ options, give }: { options: TributaryChatOptions<M>; give: (chat: TributaryChat<M>) => void }) {
  give(useTributaryChat<M>(options));
  return null;
}

function Sends({ sendMessage }: Pick<TributaryChat<M>, 'sendMessage'>) {
  useLayoutEffect(() => {
    void sendMessage({ text: 'hello' });
  }, [sendMessage]);
  return null;
}

export function Eager({ options }: { options: TributaryChatOptions<M> }) {
  return <Sends sendMessage={useTributaryChat<M>(options).sendMessage} />;
}
