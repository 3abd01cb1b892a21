// Which conversation a person had last. The host's page keeps it: browsers refuse storage to frames of other sites. The gateway asks for a token, whatever stands there.
import type { Last } from './protocol';

const KEY = 'tributary-widget';

export function kept(): Last | undefined {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? 'null') as Last | null) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(last: Last | null) {
  try {
    if (last) localStorage.setItem(KEY, JSON.stringify(last));
    else localStorage.removeItem(KEY);
  } catch {
    /* a reload begins a new conversation then */
  }
}
