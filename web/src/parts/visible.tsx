import { visiblePieces } from '@tributary/chat';

/** A text of a request or of a call's input, with marks in the place of characters that cannot be seen or that change the order of others. */
export const Visible = ({ text }: { text: string }) =>
  visiblePieces(text).map((piece, i) =>
    piece.mark ? (
      <span key={i} className="mark-hidden" title="A character that cannot be seen">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
