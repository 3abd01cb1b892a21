// The app's own backend: it knows who is signed in, and signs their tokens for the gateway. Any server can do this.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jwtVerify, SignJWT } from 'jose';

const secret = new TextEncoder().encode(process.env.TRIBUTARY_SECRET ?? readFileSync('secret', 'utf8').trim());

const sign = (user: string, audience: string, life: string) =>
  new SignJWT({ name: user }).setProtectedHeader({ alg: 'HS256' }).setSubject(user).setAudience(audience).setIssuedAt().setExpirationTime(life).sign(secret);

/** The user of a request, by the cookie of the sign-in. */
async function userOf(request: IncomingMessage): Promise<string | undefined> {
  const cookie = /(?:^|; )user=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
  return cookie && (await jwtVerify(cookie, secret, { audience: 'app' }).catch(() => null))?.payload.sub;
}

export async function backend(request: IncomingMessage, response: ServerResponse, next: () => void) {
  if (request.method !== 'POST' || !['/sign-in', '/token'].includes(request.url ?? '')) return next();
  if (request.headers['sec-fetch-site'] === 'cross-site') return response.writeHead(403).end('Other sites may not use this.');
  if (request.url === '/token') {
    const user = await userOf(request);
    return user ? response.end(await sign(user, 'tributary', '10m')) : response.writeHead(401).end('Please sign in.');
  }
  let name = ''; // replace this by your sign-in: here everybody is who they say they are
  for await (const piece of request) name += piece;
  response.writeHead(204, { 'set-cookie': `user=${await sign(name.slice(0, 50) || 'ada', 'app', '1d')}; HttpOnly; SameSite=Strict; Path=/` }).end();
}
