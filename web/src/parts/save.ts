/** Hands a text or a file to the browser as a file. */
export function save(name: string, content: string | Blob, type = 'text/plain') {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** 5242880 as "5 MB". */
export const sized = (n: number) =>
  n < 1000 ? `${n} characters` : n < 1_000_000 ? `${Math.round(n / 1000)} kB` : `${(n / 1_000_000).toFixed(1).replace('.0', '')} MB`;
