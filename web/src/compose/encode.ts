// Files as parts of a message, and parts as files.
import type { FileUIPart } from 'ai';
import type { Attachment } from './attachments';

const read = (blob: Blob) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'));
    reader.readAsDataURL(blob);
  });

/** Browsers name no type for most source files, and a film's type for TypeScript. */
async function typeOf(file: File): Promise<string> {
  if (file.type && file.type !== 'video/mp2t') return file.type;
  const start = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return text.includes('\0') ? 'application/octet-stream' : 'text/plain';
  } catch {
    return file.type || 'application/octet-stream';
  }
}

/** The file parts of a message. A file that has gone since it was chosen is an error that names it. */
export async function parts(list: Attachment[]): Promise<FileUIPart[]> {
  return Promise.all(
    list.map(async ({ file }): Promise<FileUIPart> => {
      try {
        const mediaType = await typeOf(file),
          url = await read(file);
        return { type: 'file', mediaType, filename: file.name, url: `data:${mediaType};base64,${url.slice(url.indexOf(',') + 1)}` };
      } catch {
        throw new Error(`${file.name} cannot be read any more: remove it, or attach it again.`);
      }
    }),
  );
}
