import { useState } from 'react';
import { Check, ChevronRight } from 'lucide-react';
import { Counts } from '../parts/diff';
import type { File } from './changes';
import type { Folder } from './tree';

const LETTER = { created: 'A', modified: 'M', deleted: 'D', moved: 'R' } as const;

/** A sign of what became of a file. */
export const Mark = ({ change }: { change: File['change'] }) => (
  <span className={`change-mark ${change}`} title={change}>
    <span aria-hidden="true">{LETTER[change]}</span>
    <span className="unseen">{change}</span>
  </span>
);

interface Props {
  folder: Folder;
  current: string | null;
  viewed: (file: File) => boolean;
  onOpen: (path: string) => void;
}

/** The changed files by folders. */
export function FileTree({ folder, ...rest }: Props) {
  return (
    <ul className="file-tree">
      {folder.folders.map(f => (
        <Branch key={f.path} folder={f} {...rest} />
      ))}
      {folder.files.map(file => (
        <li key={file.path}>
          <button
            type="button"
            className="tree-row"
            aria-current={file.path === rest.current ? 'true' : undefined}
            title={file.path}
            onClick={() => rest.onOpen(file.path)}
          >
            <Mark change={file.change} />
            <span className="tree-name">{file.path.slice(file.path.lastIndexOf('/') + 1)}</span>
            {rest.viewed(file) && <Check className="tree-viewed" aria-label="viewed" />}
            <Counts added={file.added} removed={file.removed} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Branch({ folder, ...rest }: Props) {
  const [open, setOpen] = useState(true);
  return (
    <li>
      <button type="button" className="tree-row folder" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight aria-hidden="true" />
        <span className="tree-name">{folder.name}</span>
      </button>
      {open && <FileTree folder={folder} {...rest} />}
    </li>
  );
}
