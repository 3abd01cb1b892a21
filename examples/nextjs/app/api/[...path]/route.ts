// The way to the gateway: the server adds the token of the person, so the browser has none.
import { currentUser, sign } from '@/lib/user';

const gateway = process.env.TRIBUTARY_URL ?? 'http://127.0.0.1:8787';

async function forward(request: Request) {
  if (request.headers.get('sec-fetch-site') === 'cross-site') return new Response('Other sites may not use this.', { status: 403 });
  const user = await currentUser();
  if (!user) return new Response('Please sign in.', { status: 401 });
  const { pathname, search } = new URL(request.url), headers = new Headers({ authorization: `Bearer ${await sign(user, 'tributary', '10m')}` });
  for (const name of ['accept', 'content-type']) headers.set(name, request.headers.get(name) ?? '*/*');
  const response = await fetch(gateway + pathname + search, {
    method: request.method, headers, body: request.body, signal: request.signal, cache: 'no-store', ...{ duplex: 'half' }, // the body is a stream
  });
  const passed = new Headers(response.headers); // but for those of the connection
  for (const name of ['connection', 'content-encoding', 'content-length', 'transfer-encoding']) passed.delete(name);
  return new Response(response.body, { status: response.status, headers: passed });
}

export { forward as DELETE, forward as GET, forward as PATCH, forward as POST };
