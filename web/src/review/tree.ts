// Files as a tree of folders. A folder whose only entry is a folder shares its line.
import type { File } from './changes';

export interface Folder {
  path: string;
  name: string;
  folders: Folder[];
  files: File[];
}

export function treeOf(files: File[]): Folder {
  const root: Folder = { path: '', name: '', folders: [], files: [] };
  for (const file of files) {
    let at = root;
    const names = file.path.replace(/^\//, '').split('/').slice(0, -1);
    for (const name of names) {
      const path = at.path ? `${at.path}/${name}` : name;
      let next = at.folders.find(f => f.name === name);
      if (!next) at.folders.push((next = { path, name, folders: [], files: [] }));
      at = next;
    }
    at.files.push(file);
  }
  return { ...root, folders: root.folders.map(joined) };
}

function joined(folder: Folder): Folder {
  const [only] = folder.folders;
  if (only && folder.folders.length === 1 && !folder.files.length) return joined({ ...only, name: `${folder.name}/${only.name}` });
  return { ...folder, folders: folder.folders.map(joined) };
}
