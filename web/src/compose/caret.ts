// Where the caret of a text area is.
const COPIED = ['font', 'letterSpacing', 'lineHeight', 'padding', 'border', 'boxSizing', 'wordSpacing', 'textIndent', 'tabSize'] as const;

/** The left edge of the character at an offset, from the left edge of the area. */
export function caretLeft(area: HTMLTextAreaElement, offset: number): number {
  const mirror = document.createElement('div'),
    style = getComputedStyle(area),
    mark = document.createElement('span');
  for (const name of COPIED) mirror.style[name] = style[name];
  Object.assign(mirror.style, {
    position: 'absolute',
    visibility: 'hidden',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'break-word',
    width: `${area.clientWidth}px`,
  });
  mirror.append(area.value.slice(0, offset), mark);
  document.body.append(mirror);
  const left = mark.offsetLeft;
  mirror.remove();
  return left;
}
