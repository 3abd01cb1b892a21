import * as svelte from 'svelte';
import Page from './page.svelte';

export function mount(place, props) {
  const page = svelte.mount(Page, { target: place, props });
  return () => svelte.unmount(page);
}
