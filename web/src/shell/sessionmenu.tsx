import { Archive, ArchiveRestore, Download, Link, Pencil, Trash2, Users } from 'lucide-react';
import type { Session } from '../api/api';
import type { Opened } from '../ui/late';
import { Menu, MenuItem, MenuRule } from '../ui/menu';
import type { Acting } from './acting';

interface Props extends Opened {
  session: Session;
  acting: Acting;
  where: 'list' | 'header';
  onShare?: () => void;
}

/** All that can be done with a session. What the caller may not do is not there. */
export default function SessionMenu({ session, acting, where, onShare, ...opened }: Props) {
  const owns = session.role === 'owner' || session.role === 'admin',
    writes = session.role !== 'viewer';
  return (
    <Menu {...opened}>
      {writes && (
        <MenuItem icon={<Pencil />} keys="F2" onSelect={() => acting.startRename(session, where)}>
          Rename
        </MenuItem>
      )}
      <MenuItem icon={<Link />} onSelect={() => acting.copyLink(session)}>
        Copy link
      </MenuItem>
      {owns && onShare && (
        <MenuItem icon={<Users />} onSelect={onShare}>
          People…
        </MenuItem>
      )}
      <MenuItem icon={<Download />} onSelect={() => acting.askExport(session)}>
        Export…
      </MenuItem>
      {writes && <MenuRule />}
      {writes &&
        (session.archived ? (
          <MenuItem icon={<ArchiveRestore />} onSelect={() => acting.archive(session, false)}>
            Take out of the archive
          </MenuItem>
        ) : (
          <MenuItem icon={<Archive />} onSelect={() => acting.archive(session, true)}>
            Archive
          </MenuItem>
        ))}
      {owns && (
        <MenuItem icon={<Trash2 />} keys="Del" danger onSelect={() => acting.askDelete(session)}>
          Delete…
        </MenuItem>
      )}
    </Menu>
  );
}
