// The user of a request, and their tokens for the gateway.
import { readFileSync } from 'node:fs';
import { jwtVerify, SignJWT } from 'jose';
import { cookies } from 'next/headers';

const secret = () => new TextEncoder().encode(process.env.TRIBUTARY_SECRET ?? readFileSync('secret', 'utf8').trim());

export const sign = (user: string, audience: 'app' | 'tributary', life: string) =>
  new SignJWT({ name: user }).setProtectedHeader({ alg: 'HS256' }).setSubject(user).setAudience(audience).setIssuedAt().setExpirationTime(life).sign(secret());

/** The user of this request, by the cookie of the sign-in. */
export async function currentUser(): Promise<string | undefined> {
  const cookie = (await cookies()).get('user')?.value;
  return cookie && (await jwtVerify(cookie, secret(), { audience: 'app' }).catch(() => null))?.payload.sub;
}
