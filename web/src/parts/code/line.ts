/** A piece of a line of code, and the name of its colour if it has one. */
export interface Piece {
  text: string;
  hue?: string;
}

export type Line = Piece[];

export const textOf = (line: Line) => line.map(p => p.text).join('');
