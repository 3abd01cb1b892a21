// The page that shows this one in a frame. Its origin stands in the address; a message goes to that origin and to no other.
import { post, received, type ToFrame, type ToHost } from '../../widget/protocol';

const ORIGIN = new URLSearchParams(location.search).get('origin') ?? '';

/** The longest wait for a token: getToken may ask the person. */
const PATIENCE = 60_000;

/** Whether a page of a known origin shows this one. */
export const framed = window.parent !== window && /^https?:\/\//.test(ORIGIN);

export const tell = (message: ToHost) => {
  if (framed) post(window.parent, ORIGIN, message);
};

type Told = (message: ToFrame) => void;

/** Calls told for each message of the host, until the function that is returned is called. */
export function listen(told: Told): () => void {
  const take = (event: MessageEvent) => {
    const message = received<ToFrame>(event, window.parent, ORIGIN);
    if (message) told(message);
  };
  addEventListener('message', take);
  return () => removeEventListener('message', take);
}

let asks = 0;

/** A token from the host; undefined if nobody is signed in there. */
export function askToken(): Promise<string | undefined> {
  const ask = ++asks;
  return new Promise((done, failed) => {
    const over = () => {
      clearTimeout(timer);
      stop();
    };
    const timer = setTimeout(() => {
      over();
      failed(new Error('The page did not give a token for the chat in time.'));
    }, PATIENCE);
    const stop = listen(message => {
      if (message.type !== 'token' || message.ask !== ask) return;
      over();
      if (message.problem === undefined) done(message.token);
      else failed(new Error(message.problem));
    });
    tell({ type: 'token', ask });
  });
}
