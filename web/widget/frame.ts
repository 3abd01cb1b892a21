// The frame with the gateway's page, as the host's page sees it.
import { post, received, type ToFrame, type ToHost } from './protocol';

/** The page says hello before its frame has loaded. A page that is silent so long afterwards was refused. */
const SILENCE = 4000;

export interface Frame {
  element: HTMLIFrameElement;
  /** Sends a message as soon as the page listens. */
  tell: (message: ToFrame) => void;
  remove: () => void;
}

/** Makes a frame with the chat of a gateway. told gets the messages of the page; failed is called if the page does not start. */
export function makeFrame(gateway: string, title: string, told: (message: ToHost) => void, failed: (sentence: string) => void): Frame {
  const element = document.createElement('iframe');
  let waiting: ToFrame[] | null = [],
    timer = 0;
  element.title = title;
  element.allow = 'clipboard-write';
  element.src = `${gateway}/embed?origin=${encodeURIComponent(location.origin)}`;
  const listen = (event: MessageEvent) => {
    const message = received<ToHost>(event, element.contentWindow, gateway);
    if (!message) return;
    if (message.type === 'hello') {
      clearTimeout(timer);
      const held = waiting ?? [];
      waiting = null;
      for (const each of held) tell(each);
    }
    told(message);
  };
  const tell = (message: ToFrame) => {
    if (waiting) waiting.push(message);
    else if (element.contentWindow) post(element.contentWindow, gateway, message);
  };
  element.onload = () => {
    if (!waiting) return;
    timer = window.setTimeout(
      () =>
        failed(
          `The chat of ${gateway} does not start in this page. The gateway must name ${location.origin} in widget.allow_origins, and the policy of this page must allow ${gateway} in frame-src.`,
        ),
      SILENCE,
    );
  };
  addEventListener('message', listen);
  return {
    element,
    tell,
    remove() {
      clearTimeout(timer);
      removeEventListener('message', listen);
      element.remove();
    },
  };
}
