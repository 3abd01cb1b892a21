// The deeds of a person on a session, besides talking in it.
import { useMemo, useState } from 'react';
import { changeSession, deleteSession, reach, transport, type Session } from '../api/api';
import { toast } from '../ui/toast';
import { linkTo } from './route';

export interface Exporting {
  id: string;
  message?: string;
}

export interface Acting {
  /** The session whose title is being written, and where. */
  renaming: { id: string; where: 'list' | 'header' } | null;
  /** The session that the person was asked about before it is deleted. */
  deleting: Session | null;
  startRename: (session: Session, where: 'list' | 'header') => void;
  rename: (session: Session, title: string | null) => void;
  archive: (session: Session, archived: boolean) => void;
  askDelete: (session: Session | null) => void;
  /** Deletes it. A sentence says what of its workspace stays: the person is then still in the dialog. */
  remove: (session: Session) => Promise<string | undefined>;
  /** What is about to be exported: a session, or the turn of a message. */
  exporting: Exporting | null;
  askExport: (what: Exporting | null) => void;
  copyLink: (session: Session) => void;
  stop: (session: Session) => void;
}

/** Runs what a person asked for, and says what went wrong. */
export const attempt = (done: Promise<unknown>) => {
  done.catch((e: Error) => toast(e.message, { bad: true }));
};

/** The text is in the clipboard, or the person is told that it is not. */
export function copy(text: string, said: string) {
  const refused = () => toast('The browser does not let this page copy. The address bar has the link.', { bad: true });
  if (!navigator.clipboard) return refused(); // plain HTTP from another machine
  navigator.clipboard.writeText(text).then(() => toast(said), refused);
}

/** gone hears of a session that this person has deleted or archived. */
export function useActing(gone: (id: string) => void): Acting {
  const [renaming, setRenaming] = useState<Acting['renaming']>(null);
  const [deleting, setDeleting] = useState<Session | null>(null);
  const [exporting, setExporting] = useState<Exporting | null>(null);
  return useMemo(() => {
    const archive = (session: Session, archived: boolean) =>
      attempt(
        changeSession(session.id, { archived }).then(() => {
          if (archived) gone(session.id);
          toast(archived ? 'The session is in the archive.' : 'The session is back in the list.', {
            action: { name: 'Undo', run: () => archive(session, !archived) },
          });
        }),
      );
    return {
      renaming,
      deleting,
      exporting,
      askExport: setExporting,
      archive,
      startRename: ({ id }, where) => setRenaming({ id, where }),
      rename: (session, title) => {
        setRenaming(null);
        const next = title?.trim();
        if (next && next !== session.title) attempt(changeSession(session.id, { title: next }));
      },
      askDelete: setDeleting,
      remove: async session => {
        const kept = await deleteSession(session.id);
        if (!kept) setDeleting(null);
        gone(session.id);
        return kept;
      },
      stop: session => attempt(reach(transport.stopTurn(session.id, session.turn ?? undefined))),
      copyLink: session =>
        copy(linkTo({ at: 'session', id: session.id, view: null }), 'The link is copied. People who may see the session can open it.'),
    };
  }, [renaming, deleting, exporting, gone]);
}
