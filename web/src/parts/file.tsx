import { Download, ExternalLink, File, FileText } from 'lucide-react';
import { safe } from './markdown/words';
import { Picture } from './picture';

/** The size of what a data URL holds, in words. */
function size(url: string): string {
  const at = url.indexOf(',');
  const bytes = /;base64$/i.test(url.slice(0, at)) ? Math.floor(((url.length - at - 1) * 3) / 4) : url.length - at - 1;
  return bytes < 1000 ? `${bytes} B` : bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A picture, or a file that can be downloaded. */
export function FilePart({ url, mediaType, name }: { url: string; mediaType: string; name?: string }) {
  if (mediaType.startsWith('image/') && url.startsWith('data:image/')) return <Picture url={url} name={name} />;
  const label = name ?? mediaType,
    to = url.startsWith('data:') ? url : safe(url);
  if (!to)
    return (
      <span className="chip">
        <File size={14} aria-hidden="true" />
        {label}
      </span>
    );
  if (url.startsWith('data:'))
    return (
      <a className="chip" href={to} download={name ?? 'file'}>
        <Download size={14} aria-hidden="true" />
        {label}
        <span className="chip-note">{size(url)}</span>
      </a>
    );
  return (
    <a className="chip" href={to} target="_blank" rel="noopener noreferrer">
      <ExternalLink size={14} aria-hidden="true" />
      {label}
    </a>
  );
}

export interface Source {
  url?: string;
  title: string;
}

const host = (url: string) => {
  try {
    return new URL(url).host.replace(/^www\./, '');
  } catch {
    return '';
  }
};

/** Where the answer comes from, as one row. */
export function Sources({ sources }: { sources: Source[] }) {
  return (
    <ul className="sources" aria-label="Sources">
      {sources.map((s, i) => {
        const to = s.url === undefined ? null : safe(s.url);
        return (
          <li key={i}>
            {to ? (
              <a className="chip" href={to} target="_blank" rel="noopener noreferrer" title={to}>
                <span className="chip-number">{i + 1}</span>
                {s.title}
                <span className="chip-note">{host(to)}</span>
              </a>
            ) : (
              <span className="chip">
                <FileText size={14} aria-hidden="true" />
                {s.title}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
