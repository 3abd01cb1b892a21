import type { ReactNode } from 'react';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { Toasts } from './toast';

/** Comes around the whole page. The policy allows no style element, so no primitive may insert one. */
export function UI({ children }: { children: ReactNode }) {
  return (
    <CSPProvider disableStyleElements>
      {children}
      <Toasts />
    </CSPProvider>
  );
}
