import { randomUUID } from 'node:crypto';
import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { currentUser, sign } from '@/lib/user';
import { Chat } from './chat';

/** Replace this by your sign-in: here everybody is who they say they are. */
async function signIn(form: FormData) {
  'use server';
  const name = String(form.get('name')).slice(0, 50) || 'ada';
  (await cookies()).set('user', await sign(name, 'app', '1d'), { httpOnly: true, sameSite: 'strict' });
}

export default async function Page({ searchParams }: { searchParams: Promise<{ chat?: string }> }) {
  if (!await currentUser()) return <form action={signIn}><input name="name" placeholder="Your name" required /> <button>Sign in</button></form>;
  const { chat } = await searchParams;
  if (!chat) redirect(`/?chat=${randomUUID()}`);
  return <Chat id={chat} />;
}
