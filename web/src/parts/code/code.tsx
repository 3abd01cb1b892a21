import { memo, useRef, useState } from 'react';
import { useNear } from '../near';
import { Copy } from './copy';
import { useColors } from './colors';
import { Lines } from './lines';
import { languageOf, type Language } from './language';

interface Props {
  code: string;
  /** The word after the fence, or what else names the language. */
  word?: string;
  language?: Language;
  /** What stands above the code instead of its language. */
  title?: string;
}

/** A block of code: its language, a switch for long lines, a button that copies it. */
export const Code = memo(function Code({ code, word, language, title }: Props) {
  const [wrap, setWrap] = useState(false);
  const block = useRef<HTMLElement>(null);
  const colors = useColors(code, language ?? languageOf(word), useNear(block));
  const name = title ?? (word?.trim().split(/\s/)[0] || 'text');
  return (
    <figure className="code" dir="ltr" ref={block}>
      <figcaption className="code-head">
        <span className="code-name">{name}</span>
        <button type="button" className="btn quiet small" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
          Wrap
        </button>
        <Copy text={code} what="code" />
      </figcaption>
      <pre className={wrap ? 'wrap' : undefined} tabIndex={0} role="group" aria-label={`Code, ${name}`}>
        <code>
          <Lines code={code} colors={colors} />
        </code>
      </pre>
    </figure>
  );
});
