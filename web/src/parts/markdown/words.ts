import { decodeNamedCharacterReference } from 'decode-named-character-reference';

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][\da-zA-Z]{1,31}));/g;

/** A text with its character references (&amp;amp;, &amp;#39;) as characters. */
export const characters = (text: string) =>
  text.includes('&')
    ? text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
        if (name) return decodeNamedCharacterReference(name) || whole;
        const code = parseInt(decimal ?? hex ?? '', decimal ? 10 : 16);
        return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
      })
    : text;

/** An address that a link may lead to; null for all others, such as javascript: and file paths. */
export function safe(href: string): string | null {
  try {
    const url = new URL(href);
    return url.protocol === 'https:' || url.protocol === 'http:' || url.protocol === 'mailto:' ? url.href : null;
  } catch {
    return null;
  }
}
