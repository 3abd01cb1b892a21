import { useEffect, useRef } from 'react';
import type { Offer } from './suggest';

interface Props {
  id: string;
  label: string;
  offers: Offer[];
  chosen: number;
  left: number;
  onChoose: (offer: Offer) => void;
  onLook: (index: number) => void;
}

/** The list at the caret. The focus stays in the text; the text names the chosen entry. */
export function Suggestions({ id, label, offers, chosen, left, onChoose, onLook }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div
      className="suggestions"
      id={id}
      ref={box}
      role="listbox"
      aria-label={label}
      style={{ '--left': `${left}px` } as React.CSSProperties}
    >
      {offers.map((offer, i) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus and the keys stay in the text
        // biome-ignore lint/a11y/useKeyWithClickEvents: the focus and the keys stay in the text
        <div
          key={offer.value}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === chosen}
          className="suggestion"
          onMouseDown={e => e.preventDefault()}
          onMouseMove={() => {
            if (i !== chosen) onLook(i);
          }}
          onClick={() => onChoose(offer)}
        >
          <span className="suggestion-name">{offer.name}</span>
          {offer.note && <span className="suggestion-note">{offer.note}</span>}
        </div>
      ))}
    </div>
  );
}
