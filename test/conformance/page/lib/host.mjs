// A page of another origin that shows the widget: an app of its own, with a server, a policy and sign-ins.
import { createHmac } from 'node:crypto';
import http from 'node:http';
import { after, before } from 'node:test';

export const SECRET = 'a secret of at least thirty-two bytes!';

const part = value => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A JSON Web Token as the app's server signs it. seconds: how long it counts. */
export function tokenFor(user, seconds = 600, claims = {}) {
  const now = Math.floor(Date.now() / 1000);
  const body = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: user, name: user, aud: 'tributary', iat: now, exp: now + seconds, ...claims })}`;
  return `${body}.${createHmac('sha256', SECRET).update(body).digest('base64url')}`;
}

/**
 * The app's server, for the tests of a file: call it once, at the top. Its origin is another one than the gateway's, and another site: localhost, not 127.0.0.1.
 * serve({ html, script, style, policy }) returns the address of a page. token: what POST /token answers, a function; null is 401. asked counts the questions.
 */
export function useHost() {
  const pages = new Map(),
    host = { asked: 0, token: () => null };
  const server = http.createServer((req, res) => {
    const page = pages.get(new URL(req.url, 'http://localhost').pathname);
    if (req.url === '/token' && req.method === 'POST') {
      host.asked++;
      const token = host.token();
      res.writeHead(token === null ? 401 : 200, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end(token ?? '');
    } else if (page) {
      res
        .writeHead(200, {
          'content-type': page.type,
          'x-frame-options': 'DENY',
          ...(page.policy ? { 'content-security-policy': page.policy } : {}),
          ...page.headers,
        })
        .end(page.text);
    } else res.writeHead(404).end();
  });
  before(async () => {
    await new Promise(r => server.listen(0, '127.0.0.1', r));
    host.port = server.address().port;
    host.origin = `http://localhost:${host.port}`;
    host.sameSite = `http://127.0.0.1:${host.port}`;
  });
  after(
    () =>
      new Promise(r => {
        server.closeAllConnections();
        server.close(r);
      }),
  );
  let n = 0;
  host.serve = ({ html = '', script = '', style = '', policy, headers = {} }) => {
    const at = `/${++n}`;
    pages.set(`${at}.js`, { type: 'text/javascript', text: script });
    pages.set(`${at}.css`, { type: 'text/css', text: style });
    pages.set(at, {
      type: 'text/html; charset=utf-8',
      policy,
      headers,
      text:
        `<!doctype html><html lang="en"><head><title>The app</title><meta name="viewport" content="width=device-width">${style ? `<link rel="stylesheet" href="${at}.css">` : ''}</head>` +
        `<body><main><h1>The app</h1><button id="own">A button of the app</button></main>${html}${script ? `<script src="${at}.js"></script>` : ''}</body></html>`,
    });
    return `${host.origin}${at}`;
  };
  return host;
}
