/** Hands a text to the browser as a file. */
export function save(name: string, text: string, type = 'text/plain') {
  const url = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** 5242880 as "5 MB". */
export const sized = (n: number) =>
  n < 1000 ? `${n} characters` : n < 1_000_000 ? `${Math.round(n / 1000)} kB` : `${(n / 1_000_000).toFixed(1).replace('.0', '')} MB`;
