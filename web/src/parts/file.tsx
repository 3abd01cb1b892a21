const web = (url: string) => /^https?:\/\//i.test(url);

export function FilePart({ url, mediaType, name }: { url: string; mediaType: string; name?: string }) {
  if (mediaType.startsWith('image/') && url.startsWith('data:image/')) return <img className="picture" src={url} alt={name ?? 'A picture from the agent'} />;
  const label = name ?? mediaType;
  if (url.startsWith('data:')) return <a className="chip" href={url} download={name ?? 'file'}>{label}</a>;
  return web(url) ? <a className="chip" href={url} target="_blank" rel="noreferrer noopener">{label}</a> : <span className="chip">{label}</span>;
}

export function SourcePart({ url, title }: { url?: string; title: string }) {
  return url && web(url) ? <a className="chip" href={url} target="_blank" rel="noreferrer noopener">{title}</a> : <span className="chip">{title}</span>;
}
