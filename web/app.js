// In the pages of an app that the gateway serves: requests to the gateway carry the secret of the sign-in, which programs on other ports
// of this host cannot read. The cookie alone opens nothing.
(() => {
  document.currentScript.remove(); // the app hydrates the page that it knows
  const KEY = 'tributary-page',
    HEADER = 'X-Tributary-Page',
    plain = window.fetch,
    Socket = window.WebSocket;
  const given = new URLSearchParams(location.hash.slice(1)),
    fresh = given.get('page');
  const mine = address => {
    const url = new URL(address, location.href);
    return url.host === location.host && /^\/(api|auth)\//.test(url.pathname);
  };
  const secret = () => {
    try {
      return localStorage.getItem(KEY) ?? '';
    } catch {
      return '';
    }
  };
  let ready = Promise.resolve();
  if (fresh) {
    const at = given.get('at') ?? '';
    history.replaceState(history.state, '', location.pathname + location.search + (at.startsWith('#') ? at : ''));
    ready = plain('/auth/me', { headers: { [HEADER]: fresh } })
      .then(res => res.json())
      .then(me => me.user && localStorage.setItem(KEY, fresh)) // a secret that opens nothing is not taken
      .catch(() => {});
  }
  window.fetch = async (input, init) => {
    if (!mine(input instanceof Request ? input.url : input)) return plain(input, init);
    await ready;
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    if (secret() && !headers.has(HEADER)) headers.set(HEADER, secret());
    return plain(input, { ...init, headers });
  };
  window.WebSocket = class extends Socket {
    constructor(address, protocols = []) {
      const named = [protocols].flat(); // a browser wants one of its subprotocols in the answer, and the secret is none
      super(address, mine(address) && secret() ? [...(named.length ? named : ['ai-sdk-chat', 'agent-ops']), `page.${secret()}`] : protocols);
    }
  };
})();
