import { useEffect, useState } from 'react';
import { listExporters } from '../api/api';
import { signIn, signOut, type Me } from '../api/signin';
import { setTheme, useTheme, type Theme } from '../style/theme';
import type { Opened } from '../ui/late';
import { Menu, MenuChoices, MenuItem, MenuRule } from '../ui/menu';
import { attempt } from './acting';

const THEMES = [
  { value: 'system', name: 'As the system' },
  { value: 'light', name: 'Light' },
  { value: 'dark', name: 'Dark' },
];

export default function AccountMenu({
  who,
  onList,
  ...opened
}: Opened & { who: Me | null; onList: (what: 'sign-ins' | 'exporters') => void }) {
  const theme = useTheme(),
    { user, sign_in: address, signed_in: signedIn } = who ?? {},
    admin = user?.role === 'admin';
  const [exports, setExports] = useState(false);
  useEffect(() => {
    if (!admin) return;
    listExporters().then(
      all => setExports(all.length > 0),
      () => {
        /* the list of sessions says that the gateway is away */
      },
    );
  }, [admin]);
  return (
    <Menu align="start" side="top" {...opened}>
      <MenuChoices label="Theme" value={theme} choices={THEMES} onChoose={t => setTheme(t as Theme)} />
      {(address || signedIn || exports) && <MenuRule />}
      {exports && <MenuItem onSelect={() => onList('exporters')}>Exporters…</MenuItem>}
      {!user && address && <MenuItem onSelect={() => signIn(address)}>Sign in</MenuItem>}
      {user && signedIn && <MenuItem onSelect={() => onList('sign-ins')}>Sign-ins…</MenuItem>}
      {user && signedIn && <MenuItem onSelect={() => attempt(signOut())}>Sign out</MenuItem>}
    </Menu>
  );
}
