import { useEffect, useLayoutEffect, useRef } from 'react';

interface Props { text: string; onText: (text: string) => void; busy: boolean; waiting: boolean; onSend: (text: string) => void; onStop: () => void }

/**
 * Enter sends, Shift+Enter breaks the line, Escape stops unless there is a draft. A prompt that is sent while the
 * agent works waits in the queue; while the agent waits for an answer (waiting), a new message may end the turn.
 */
export function Composer({ text, onText, busy, waiting, onSend, onStop }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => { if (matchMedia('(hover: hover)').matches) area.current?.focus(); }, []);
  useLayoutEffect(() => {
    const el = area.current;
    if (!el) return;
    el.style.height = 'auto';
    el.style.height = `${Math.min(el.scrollHeight, 220)}px`;
  }, [text]);
  const send = () => {
    const prompt = text.trim();
    if (!prompt) return;
    onText('');
    onSend(prompt);
    area.current?.focus();
  };
  return (
    <form className="composer" onSubmit={e => { e.preventDefault(); send(); }}>
      <div className="composer-box">
        <textarea
          ref={area} rows={1} value={text} aria-label="Your message"
          placeholder={waiting ? 'Answer here, or send something else to end the turn' : 'Message the agent'}
          onChange={e => onText(e.target.value)}
          onKeyDown={e => {
            if (e.key === 'Enter' && !e.shiftKey && !e.nativeEvent.isComposing) { e.preventDefault(); send(); }
            if (e.key === 'Escape' && (busy || waiting) && !text) { e.preventDefault(); onStop(); }
          }}
        />
        {(busy || waiting) && <button type="button" className="stop" onClick={onStop}>Stop</button>}
        <button type="submit" className="send" disabled={!text.trim()}>{busy && !waiting ? 'Queue' : 'Send'}</button>
      </div>
    </form>
  );
}
