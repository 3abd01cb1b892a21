// The way to the gateway. Without settings the gateway has the origin of the page, and a proxy adds the token.

interface Settings { base: string; token?: string }

let settings: Settings = { base: '' };

export const connect = (to: Settings) => { settings = to; };

export const at = (session: string) => `${settings.base}/api/sessions/${encodeURIComponent(session)}`;

export const headers = (): Record<string, string> => (settings.token ? { authorization: `Bearer ${settings.token}` } : {});

/** Calls a route; an error is the sentence of the gateway. */
export async function call(method: 'GET' | 'POST', address: string, body?: object): Promise<Response> {
  const res = await fetch(address, { method, headers: { ...headers(), ...(body && { 'content-type': 'application/json' }) }, body: body && JSON.stringify(body) });
  if (res.ok) return res;
  const text = await res.text();
  let sentence = text;
  try { sentence = (JSON.parse(text) as { error: string }).error; } catch { /* a plain sentence */ }
  throw new Error(sentence || `The gateway answered ${res.status}.`);
}

/** A page can give a WebSocket no header, so the token is a subprotocol. */
export function openSocket(session: string): WebSocket {
  const address = new URL(`${at(session)}/ws?role=client`, location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  return new WebSocket(address, ['agent-ops', ...(settings.token ? [`bearer.${settings.token}`] : [])]);
}
