// The options of the widget, from init() or from the attributes of the script tag.
import type { Start, Theme } from './protocol';

/** A token of the person in front of the page; null: nobody is signed in. */
export type GetToken = () => string | null | undefined | Promise<string | null | undefined>;

export interface Options extends Start {
  /** Asked for a token when the chat opens, and again when a token has expired. Without it the chat sends no token. */
  getToken?: GetToken;
  /** The name of the button. */
  label?: string;
  position?: 'bottom-right' | 'bottom-left';
  /** Shows the chat at once. */
  open?: boolean;
  /** The origin of the gateway, for a copy of this script that another server serves. */
  gateway?: string;
}

/** Asks the host's own server for the token of the person. The server knows the person by its own cookie. */
const tokenFrom =
  (address: URL): GetToken =>
  async () => {
    const res = await fetch(address, { method: 'POST', credentials: 'same-origin' });
    if (res.status === 401 || res.status === 403 || res.status === 204) return null;
    if (!res.ok) throw new Error(`${address.pathname} answered ${res.status}.`);
    return (await res.text()).trim();
  };

/** The options that the attributes say; null if the tag has none. */
export function fromAttributes(script: HTMLScriptElement | null): Options | null {
  const said = script?.dataset ?? {};
  if (Object.keys(said).length === 0) return null;
  const options: Options = {
    ...pick(said, ['agent', 'session', 'title', 'label', 'gateway']),
    theme: pick(said, ['accent', 'radius', 'font', 'colorScheme']) as Theme,
  };
  if (said.position === 'bottom-left') options.position = said.position;
  if (said.open !== undefined) options.open = said.open !== 'false';
  if (said.token !== undefined)
    console.error(
      'Tributary: data-token is not read, because every script of the page could read it. Name an address of your server in data-token-url, or call Tributary.init({ getToken }).',
    );
  if (said.tokenUrl !== undefined) {
    const address = new URL(said.tokenUrl, document.baseURI);
    if (address.origin === location.origin) options.getToken = tokenFrom(address);
    else console.error(`Tributary: data-token-url must be an address of ${location.origin}.`);
  }
  return options;
}

const pick = (from: DOMStringMap, keys: string[]) => Object.fromEntries(keys.filter(key => from[key]).map(key => [key, from[key]]));
