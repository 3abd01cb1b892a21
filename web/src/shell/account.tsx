import { lazy, Suspense, useEffect, useState } from 'react';
import { Settings, UserRound } from 'lucide-react';
import { me, type Me } from '../api/signin';
import { Late } from '../ui/late';

const AccountMenu = lazy(() => import('./accountmenu'));
const SignIns = lazy(() => import('./signins'));
const Exporters = lazy(() => import('./exporters'));

/** Who is signed in, the ways in and out, and what is this person's own on this page. */
export function Account({ again }: { again: unknown }) {
  const [who, setWho] = useState<Me | null>(null);
  const [listed, setListed] = useState<'sign-ins' | 'exporters' | null>(null);
  const close = () => setListed(null);
  useEffect(() => {
    void me().then(now => {
      if (now) setWho(now);
    });
  }, [again]); // a gateway that is away does not say
  const user = who?.user,
    Icon = user ? UserRound : Settings;
  return (
    <div className="account">
      <Late
        trigger={
          <button type="button" className="side-row">
            <Icon aria-hidden="true" />
            <span className="grow">{user?.name ?? 'Settings'}</span>
            {user && <span className="note">{user.role}</span>}
          </button>
        }
      >
        {opened => <AccountMenu who={who} onList={setListed} {...opened} />}
      </Late>
      {listed && <Suspense fallback={null}>{listed === 'sign-ins' ? <SignIns onClose={close} /> : <Exporters onClose={close} />}</Suspense>}
    </div>
  );
}
