// The look that the host asked for, by the variables of the page's own style.
import { inkOn } from '../../widget/colour';
import type { Theme } from '../../widget/protocol';

export function dress({ accent, radius, font, colorScheme }: Theme) {
  const root = document.documentElement,
    ink = accent && inkOn(accent);
  const set = (name: string, value: string) => root.style.setProperty(name, value);
  if (accent && ink) {
    set('--accent', accent);
    set('--accent-ink', ink);
    set('--accent-wash', `color-mix(in srgb, ${accent} 14%, var(--raised))`);
  }
  if (radius && CSS.supports('border-radius', radius)) {
    set('--radius', radius);
    set('--radius-s', `calc(${radius} * .75)`);
    set('--radius-l', `calc(${radius} * 1.5)`);
  }
  if (font) set('--sans', font);
  if (colorScheme === 'light' || colorScheme === 'dark') {
    root.dataset.theme = colorScheme;
    root.style.colorScheme = colorScheme;
  }
}
