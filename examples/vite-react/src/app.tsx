import { TributaryTransport } from '@tributary/chat';
import { useEffect, useState, type FormEvent } from 'react';
import { Chat } from './chat';

async function getToken() {
  const response = await fetch('/token', { method: 'POST' });
  if (!response.ok) throw new Error(await response.text());
  return response.text();
}

const transport = new TributaryTransport({ getToken });
const id = decodeURIComponent(location.hash.slice(1)) || crypto.randomUUID();

export function App() {
  const [signedIn, setSignedIn] = useState<boolean>();
  useEffect(() => { getToken().then(() => setSignedIn(true), () => setSignedIn(false)); }, []);
  const signIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    await fetch('/sign-in', { method: 'POST', body: String(new FormData(event.currentTarget).get('name')) });
    setSignedIn(true);
  };
  if (signedIn === undefined) return null;
  if (!signedIn) return <form onSubmit={signIn}><input name="name" placeholder="Your name" required /> <button>Sign in</button></form>;
  history.replaceState(null, '', `#${encodeURIComponent(id)}`);
  return <Chat id={id} transport={transport} />;
}
