import { useEffect, useRef, useState } from 'react';
import { Download, X } from 'lucide-react';

/** A picture; a click shows it as large as the window allows. */
export function Picture({ url, name }: { url: string; name?: string }) {
  const [open, setOpen] = useState(false);
  const label = name ?? 'Picture';
  return (
    <>
      <button type="button" className="picture" aria-label={`Enlarge: ${label}`} onClick={() => setOpen(true)}>
        <img src={url} alt={label} loading="lazy" decoding="async" />
      </button>
      {open && <Lightbox url={url} name={name} label={label} onClose={() => setOpen(false)} />}
    </>
  );
}

function Lightbox({ url, name, label, onClose }: { url: string; name?: string; label: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the picture closes; the keyboard has Escape
    <dialog
      ref={dialog}
      className="lightbox"
      aria-label={label}
      onClose={onClose}
      onClick={e => {
        if (e.target === e.currentTarget) onClose();
      }}
    >
      <img src={url} alt={label} />
      <p className="lightbox-bar">
        <span>{label}</span>
        <a className="icon-btn small" href={url} download={name ?? 'picture'} aria-label={`Download ${label}`}>
          <Download size={16} aria-hidden="true" />
        </a>
        <button type="button" className="icon-btn small" aria-label="Close" onClick={onClose}>
          <X size={16} aria-hidden="true" />
        </button>
      </p>
    </dialog>
  );
}
