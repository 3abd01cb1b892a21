import { useEffect, useState } from 'react';
import { me, signIn, signOut, type Me } from './signin';

/** Who is signed in, and the ways in and out. A gateway with one token and no sign-in shows nothing. */
export function Account({ again }: { again: unknown }) {
  const [who, setWho] = useState<Me | null>(null);
  useEffect(() => { void me().then(setWho); }, [again]);
  if (!who) return null;
  const { user, sign_in: address, signed_in: signedIn } = who;
  return (
    <div className="account">
      {user && signedIn && <><span title={user.role}>{user.name}</span> <button onClick={() => { void signOut(); }}>Sign out</button></>}
      {!user && address && <button className="sign-in" onClick={() => signIn(address)}>Sign in</button>}
    </div>
  );
}
