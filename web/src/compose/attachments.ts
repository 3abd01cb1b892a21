// Files that wait to be sent with the next prompt of a session. IndexedDB keeps them over a reload.
import { useCallback, useEffect, useState } from 'react';
import { generateId } from 'ai';

export interface Attachment {
  id: string;
  file: File;
}

const held = new Map<string, Attachment[]>();
const NONE: Attachment[] = [];

let opened: Promise<IDBDatabase | null> | undefined;
const database = () =>
  (opened ??= new Promise(resolve => {
    try {
      void localStorage.length; // a page without storage, such as the frame of the widget, keeps nothing here either
      const request = indexedDB.open('tributary', 1);
      request.onupgradeneeded = () => request.result.createObjectStore('attachments');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
    } catch {
      resolve(null);
    } // a private window: the files last as long as the page
  }));

/** The files that the browser keeps under a key. */
export async function load(key: string): Promise<Attachment[]> {
  const db = await database();
  if (!db) return NONE;
  return new Promise(resolve => {
    const request = db.transaction('attachments').objectStore('attachments').get(key) as IDBRequest<Attachment[] | undefined>;
    request.onsuccess = () => resolve(request.result ?? NONE);
    request.onerror = () => resolve(NONE);
  });
}

/** Has the browser keep files under a key, in the place of those that are there. */
export async function keep(key: string, list: Attachment[]) {
  const db = await database();
  if (!db) return;
  try {
    const store = db.transaction('attachments', 'readwrite').objectStore('attachments');
    if (list.length) store.put(list, key);
    else store.delete(key);
  } catch {
    /* the disk is full: the files last as long as the page */
  }
}

const loads = new Map<string, Promise<void>>();

/** Calls then with the files under a key: at once, or when the browser has found them. */
function whenLoaded(key: string, then: (now: Attachment[]) => void) {
  const now = held.get(key);
  if (now) return then(now);
  if (!loads.has(key))
    loads.set(
      key,
      load(key).then(stored => {
        held.set(key, stored);
      }),
    );
  void loads.get(key)!.then(() => then(held.get(key)!));
}

/** The attachments of a session's next prompt, and their setter. */
export function useAttachments(key: string) {
  const [shown, show] = useState({ key, list: held.get(key) ?? NONE });
  const list = shown.key === key ? shown.list : (held.get(key) ?? NONE);
  const set = useCallback(
    (next: (now: Attachment[]) => Attachment[]) => {
      whenLoaded(key, now => {
        const value = next(now);
        held.set(key, value);
        show({ key, list: value });
        void keep(key, value);
      });
    },
    [key],
  );
  useEffect(() => {
    let here = true;
    whenLoaded(key, now => {
      if (here) show({ key, list: now });
    });
    return () => {
      here = false;
    };
  }, [key]);
  return [list, set] as const;
}

/** What one message takes: docs/reference/limits.md has the bytes, the number is the page's own. */
export const MOST_FILES = 50,
  MOST_BYTES = 32 << 20;

/** The bytes of a file in a message, as a data URL. */
const weight = (file: File) => Math.ceil(file.size / 3) * 4 + 300;
/** The bytes that other parts of the message may take. */
const SPARE = 64 << 10;

export const room = (list: Attachment[]) => MOST_BYTES - SPARE - list.reduce((sum, a) => sum + weight(a.file), 0);

/** The list with the files that find room in the message, and a sentence about those that do not. */
export function add(now: Attachment[], files: File[]): { list: Attachment[]; problem: string | null } {
  const list = [...now];
  const many: File[] = [],
    large: File[] = [];
  for (const file of files) {
    if (list.length >= MOST_FILES) many.push(file);
    else if (weight(file) > room(list)) large.push(file);
    else list.push({ id: generateId(), file });
  }
  const said = [];
  if (many.length)
    said.push(
      `${files.length - many.length - large.length} of ${files.length} files are attached: a message takes ${MOST_FILES}. Attach the others to the next message.`,
    );
  if (large.length)
    said.push(
      `${large
        .map(f => f.name)
        .slice(0, 3)
        .join(
          ', ',
        )}${large.length > 3 ? ` and ${large.length - 3} more` : ''} did not fit: the files of a message may have ${size((MOST_BYTES / 4) * 3)} together.`,
    );
  return { list, problem: said.join(' ') || null };
}

export const size = (bytes: number) => {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1e3)} KB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
};
