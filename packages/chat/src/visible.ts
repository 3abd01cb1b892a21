// Texts that a person decides on, with all of their characters visible: what an agent asks, and the input of a call.

/**
 * Characters that a reader cannot see, or that change the order or the place of what is read: controls, bidi controls, zero-width characters, tags,
 * variation selectors, line and paragraph separators, lone surrogates. A newline and a tab are none.
 */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const nameOf = (character: string) => `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`;

/** A piece of a text. Where mark is true, the text is the name of one hidden character, such as <U+202E>. */
export interface VisiblePiece {
  text: string;
  mark: boolean;
}

/** The pieces of a text in their order, with a mark in the place of each hidden character. An app gives marks a style of their own. */
export function visiblePieces(text: string): VisiblePiece[] {
  const pieces: VisiblePiece[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > from) pieces.push({ text: text.slice(from, index), mark: false });
    pieces.push({ text: nameOf(character), mark: true });
    from = index + character.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), mark: false });
  return pieces;
}

/** The text with <U+202E> and the like in the place of hidden characters. */
export const visibleText = (text: string): string => text.replace(HIDDEN, nameOf);

/** A text of JSON in which each hidden character is an escape, such as \u202e: the same value, for a person who edits it. */
export const escapedJson = (json: string): string =>
  json.replace(HIDDEN, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
