import { signIn, signOut, type Me } from '../api/signin';
import { setTheme, useTheme, type Theme } from '../style/theme';
import type { Opened } from '../ui/late';
import { Menu, MenuChoices, MenuItem, MenuRule } from '../ui/menu';

const THEMES = [
  { value: 'system', name: 'As the system' },
  { value: 'light', name: 'Light' },
  { value: 'dark', name: 'Dark' },
];

export default function AccountMenu({ who, onSignIns, ...opened }: Opened & { who: Me | null; onSignIns: () => void }) {
  const theme = useTheme(),
    { user, sign_in: address, signed_in: signedIn } = who ?? {};
  return (
    <Menu align="start" side="top" {...opened}>
      <MenuChoices label="Theme" value={theme} choices={THEMES} onChoose={t => setTheme(t as Theme)} />
      {(address || signedIn) && <MenuRule />}
      {!user && address && <MenuItem onSelect={() => signIn(address)}>Sign in</MenuItem>}
      {user && signedIn && <MenuItem onSelect={onSignIns}>Sign-ins…</MenuItem>}
      {user && signedIn && (
        <MenuItem
          onSelect={() => {
            void signOut();
          }}
        >
          Sign out
        </MenuItem>
      )}
    </Menu>
  );
}
