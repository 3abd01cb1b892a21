import { useState } from 'react';

/** The title of a session while a person writes it: Enter keeps it, Escape leaves the old one. */
export function TitleField({ title, onDone }: { title: string; onDone: (title: string | null) => void }) {
  const [text, setText] = useState(title);
  return (
    <input
      className="input title-field"
      aria-label="Title of the session"
      dir="auto"
      value={text}
      autoFocus
      maxLength={200}
      onFocus={e => e.target.select()}
      onChange={e => setText(e.target.value)}
      onBlur={() => onDone(text)}
      onKeyDown={e => {
        e.stopPropagation();
        if (e.key === 'Enter' && !e.nativeEvent.isComposing) onDone(text);
        if (e.key === 'Escape') onDone(null);
      }}
    />
  );
}
