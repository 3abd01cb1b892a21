import { lazy, Suspense, useEffect, useRef } from 'react';
import type { Props } from './review';

const Review = lazy(() => import('./review'));

/**
 * The place of the review. It takes the focus at once, not when the review's script has come: a person may be at work elsewhere
 * by then.
 */
export function ReviewPane(props: Omit<Props, 'paneRef'>) {
  const pane = useRef<HTMLDivElement>(null);
  useEffect(() => {
    pane.current?.focus();
  }, []);
  return (
    <div className="review" ref={pane} role="region" aria-label="Changes" tabIndex={-1}>
      <Suspense fallback={null}>
        <Review {...props} paneRef={pane} />
      </Suspense>
    </div>
  );
}
