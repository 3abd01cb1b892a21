// In the pages of an app that the gateway serves: requests to the gateway carry the secret of the sign-in, which programs on other ports
// of this host cannot read. The cookie alone opens nothing.
(() => {
  document.currentScript.remove(); // the app hydrates the page that it knows
  const KEY = 'tributary-page',
    HEADER = 'X-Tributary-Page',
    plain = window.fetch,
    Socket = window.WebSocket,
    Source = window.EventSource;
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
  /** An EventSource, by fetch: one of the browser sends no header. */
  class Events extends EventTarget {
    readyState = 0;
    withCredentials = false;
    #last = '';
    #end = new AbortController();
    constructor(address) {
      super();
      this.url = new URL(address, location.href).href;
      void this.#run();
    }
    close() {
      this.readyState = 2;
      this.#end.abort();
    }
    #tell(event) {
      this[`on${event.type}`]?.(event);
      this.dispatchEvent(event);
    }
    async #run() {
      for (; this.readyState !== 2; await new Promise(on => setTimeout(on, 3000))) {
        try {
          const headers = { Accept: 'text/event-stream', ...(this.#last && { 'Last-Event-ID': this.#last }) };
          const res = await window.fetch(this.url, { headers, cache: 'no-store', signal: this.#end.signal });
          if (res.status !== 200 || !res.headers.get('Content-Type')?.startsWith('text/event-stream')) this.close();
          else await this.#read(res.body.pipeThrough(new TextDecoderStream()).getReader());
        } catch {
          if (this.readyState === 2) return;
        }
        if (this.readyState !== 2) this.readyState = 0;
        this.#tell(new Event('error'));
      }
    }
    async #read(reader) {
      this.readyState = 1;
      this.#tell(new Event('open'));
      let rest = '',
        data = [],
        type = 'message';
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + part.value).split('\n');
        rest = lines.pop();
        for (const line of lines.map(l => l.replace(/\r$/, ''))) {
          const [, field, value] = /^([^:]*)(?:: ?(.*))?$/.exec(line);
          if (field === 'data') data.push(value ?? '');
          if (field === 'id') this.#last = value ?? '';
          if (field === 'event') type = value || 'message';
          if (line) continue;
          if (data.length) this.#tell(new MessageEvent(type, { data: data.join('\n'), lastEventId: this.#last, origin: location.origin }));
          data = [];
          type = 'message';
        }
      }
    }
  }
  window.EventSource = new Proxy(Source, {
    construct: (Browsers, [address, init]) => (mine(address) ? new Events(address) : new Browsers(address, init)),
  });
  window.WebSocket = class extends Socket {
    constructor(address, protocols = []) {
      const named = [protocols].flat(); // a browser wants one of its subprotocols in the answer, and the secret is none
      super(
        address,
        mine(address) && secret() ? [...(named.length ? named : ['ai-sdk-chat', 'agent-ops']), `page.${secret()}`] : protocols,
      );
    }
  };
})();
