// The output of a command as a terminal would show it.
import Anser from 'anser';
import type { CSSProperties } from 'react';

export interface Span {
  text: string;
  name?: string;
  style?: CSSProperties;
}

/** Sequences that are no colour: they move the cursor, clear, or talk to the terminal itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of a terminal begin with one
const OTHER = /\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-ln-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-Z\\^-~])/g;

/** A line as it stands after what has overwritten it: a carriage return begins it again, a backspace takes a character. */
function settled(line: string): string {
  if (!/[\r\b]/.test(line)) return line;
  const last =
    line
      .split('\r')
      .filter(s => s !== '')
      .at(-1) ?? '';
  let text = '';
  for (const c of last) text = c === '\b' ? text.slice(0, -1) : text + c;
  return text;
}

const lines = (text: string) => text.replace(OTHER, '').split('\n').map(settled).join('\n');

/** The text without colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of a terminal begin with one
export const plain = (text: string) => lines(text).replace(/\x1b\[[\d;:]*m?/g, '');

/** A colour of the palette of 256 that is none of the sixteen names. */
function mixed(n: number): string {
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (i: number) => [0, 95, 135, 175, 215, 255][i]!;
  return `rgb(${level(Math.floor((n - 16) / 36))} ${level(Math.floor((n - 16) / 6) % 6)} ${level((n - 16) % 6)})`;
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** A colour as the name of a class, or as a value. */
function colour(found: string | null, exact: string | null): { name?: string; value?: string } {
  if (!found) return {};
  if (found === 'ansi-truecolor') return exact ? { value: `rgb(${exact})` } : {};
  const n = Number(/^ansi-palette-(\d+)$/.exec(found)?.[1] ?? NaN);
  if (Number.isNaN(n)) return { name: found.slice('ansi-'.length) };
  return n < 16 ? { name: (n > 7 ? 'bright-' : '') + NAMES[n % 8]! } : { value: mixed(n) };
}

// Programs choose exact colours for the ground of their own terminal. The page has another one, and a person reads it in two themes.

/** Black or white, whichever is easier to read on this colour. */
function inkOn(colour: string): string {
  const [r, g, b] = colour.match(/\d+/g)!.map(n => {
    const part = Number(n) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff';
}

/** This hue, dark enough on a light page, and light enough on a dark one. */
const legible = (colour: string) => `light-dark(oklch(from ${colour} min(l, .48) c h), oklch(from ${colour} max(l, .72) c h))`;

/** The output in coloured pieces. */
export function paint(text: string): Span[] {
  const shown = lines(text);
  if (!shown.includes('\x1b')) return [{ text: shown }];
  return Anser.ansiToJson(shown, { json: true, remove_empty: true, use_classes: true }).map(part => {
    const fg = colour(part.fg, part.fg_truecolor),
      bg = colour(part.bg, part.bg_truecolor);
    const names = [fg.name && `ansi-${fg.name}`, bg.name && `ansi-on-${bg.name}`, ...part.decorations.map(d => `ansi-${d}`)].filter(
      Boolean,
    );
    return {
      text: part.content,
      name: names.join(' ') || undefined,
      style: bg.value
        ? { backgroundColor: bg.value, color: inkOn(bg.value) }
        : fg.value && !bg.name
          ? { color: legible(fg.value) }
          : undefined,
    };
  });
}
