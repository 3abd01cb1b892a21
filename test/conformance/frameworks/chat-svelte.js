import { flushSync, mount as mountSvelte, unmount } from 'svelte';
import Page from './chat.svelte';

export function mount(place, props) {
  const page = mountSvelte(Page, { target: place, props });
  flushSync();
  return () => unmount(page);
}
