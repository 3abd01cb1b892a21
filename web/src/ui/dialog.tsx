import type { ReactNode, RefObject } from 'react';
import { Dialog as Base } from '@base-ui/react/dialog';

interface Props {
  title: string;
  /** The title is for screen readers only. */
  bare?: boolean;
  about?: ReactNode;
  wide?: boolean;
  /** A click beside it and Escape do not close it. */
  firm?: boolean;
  onClose: () => void;
  initialFocus?: RefObject<HTMLElement | null>;
  children?: ReactNode;
}

/** A dialog that is open for as long as it is rendered. */
export function Dialog({ title, bare, about, wide, firm, onClose, initialFocus, children }: Props) {
  return (
    <Base.Root
      open
      onOpenChange={open => {
        if (!open && !firm) onClose();
      }}
      disablePointerDismissal={firm}
    >
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className={wide ? 'dialog wide' : 'dialog'} initialFocus={initialFocus}>
          {bare ? (
            <>
              <Base.Title className="unseen">{title}</Base.Title>
              {children}
            </>
          ) : (
            <div className="inside">
              <div>
                {/* biome-ignore lint/a11y/useHeadingContent: Base.Title fills the heading that it is given */}
                <Base.Title render={<h2 />}>{title}</Base.Title>
                {about && <Base.Description className="about">{about}</Base.Description>}
              </div>
              {children}
            </div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
