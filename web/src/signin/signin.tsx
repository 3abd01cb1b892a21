import { useEffect, useState } from 'react';
import { me, signIn, signInBy } from '../api/signin';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';

/**
 * Asks a person to sign in: at the provider if the gateway has one, else with a token. again: the page is in use, so it stays as it is
 * below, and what was typed is kept.
 */
export default function SignIn({ again }: { again: boolean }) {
  const [address, setAddress] = useState<string | null>(null); // '': there is no provider
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const [under, setUnder] = useState(false);
  useEffect(() => {
    void me().then(who => setAddress(who?.sign_in ?? ''));
  }, []);
  const use = async () => {
    setUnder(true);
    try {
      await signInBy(token.trim());
    } catch (wrong) {
      setProblem((wrong as Error).message);
    } finally {
      setUnder(false);
    }
  };
  const how = address
    ? 'Sign in with your account, or with a token.'
    : 'Enter a token, or open the address that the gateway printed at its start.';
  if (address === null) return null;
  return (
    <Dialog
      firm
      title={again ? 'Sign in again' : 'Sign in'}
      about={again ? 'Your sign-in has ended. What you have written is kept, and the conversation goes on after the next sign-in.' : how}
      onClose={() => {}}
    >
      {address && (
        <Button look="primary" onClick={() => signIn(address)}>
          {again ? 'Sign in again' : 'Sign in'}
        </Button>
      )}
      <form
        className="token"
        onSubmit={e => {
          e.preventDefault();
          if (token.trim() && !under) void use();
        }}
      >
        <label className="field">
          <span>{address ? 'Or a token' : 'Token'}</span>
          <input
            className="input"
            type="password"
            autoComplete="off"
            value={token}
            onChange={e => {
              setToken(e.target.value);
              setProblem('');
            }}
          />
        </label>
        <Button type="submit" look={address ? 'plain' : 'primary'} disabled={!token.trim()} aria-disabled={under}>
          {under ? 'Signing in…' : 'Use the token'}
        </Button>
      </form>
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
