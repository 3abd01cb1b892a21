// The button and the panel, in a shadow root that the host's styles do not reach.
import css from './launcher.css?inline';
import { inkOn } from './colour';
import type { Options } from './options';

const NS = 'http://www.w3.org/2000/svg';

function make<K extends keyof HTMLElementTagNameMap>(name: K, className: string, ...children: Node[]) {
  const element = document.createElement(name);
  element.className = className;
  element.append(...children);
  return element;
}

function icon() {
  const svg = document.createElementNS(NS, 'svg'),
    path = svg.appendChild(document.createElementNS(NS, 'path'));
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', 'M4 5h16v11H10l-5 4v-4H4z');
  return svg;
}

export type Launcher = ReturnType<typeof makeLauncher>;

/** Puts the button into the page. pressed is called for a press of the button, escaped for Escape beside the frame. */
export function makeLauncher(options: Options, pressed: () => void, escaped: () => void) {
  const host = document.createElement('tributary-widget'),
    shadow = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet(); // a constructed sheet needs nothing of the host's style-src
  sheet.replaceSync(css);
  shadow.adoptedStyleSheets = [sheet];

  const label = options.label ?? 'Chat';
  const badge = make('span', 'badge'),
    news = make('span', 'news'),
    panel = make('div', 'panel'),
    button = make('button', 'launcher', icon(), badge);
  const root = make('div', options.position === 'bottom-left' ? 'root left' : 'root', panel, button, news);
  badge.ariaHidden = 'true';
  news.role = 'status';
  panel.role = 'dialog';
  panel.ariaLabel = label;
  button.type = 'button';
  button.ariaLabel = label;
  button.ariaExpanded = 'false';
  button.onclick = pressed;
  root.onkeydown = event => {
    if (event.key === 'Escape') escaped();
  };
  shadow.append(root);

  const { accent, radius, font, colorScheme } = options.theme ?? {},
    ink = accent && inkOn(accent);
  if (accent && ink) {
    root.style.setProperty('--accent', accent);
    root.style.setProperty('--ink', ink);
  }
  if (radius && CSS.supports('border-radius', radius)) root.style.setProperty('--radius', radius);
  if (font) root.style.fontFamily = font;
  if (colorScheme === 'light' || colorScheme === 'dark') root.style.colorScheme = colorScheme;

  document.body.append(host);
  if ('popover' in host) {
    // the top layer: no transform, filter or z-index of the page reaches it
    host.popover = 'manual';
    host.showPopover();
  }
  return {
    host,
    panel,
    button,
    /** Opens or closes the panel; the frame decides about the focus. */
    show(open: boolean) {
      root.classList.toggle('open', open);
      button.ariaExpanded = String(open);
    },
    unread(count: number) {
      badge.textContent = count > 9 ? '9+' : count ? String(count) : '';
      button.ariaLabel = count ? `${label}, ${count} new` : label;
      news.textContent = count ? `${label}: ${count} new` : '';
    },
    /** Shows why there is no chat, in its place. */
    problem(sentence: string) {
      const note = make('p', 'problem', document.createTextNode(sentence));
      note.role = 'alert';
      root.classList.toggle('failed', true);
      panel.replaceChildren(note);
    },
    fine() {
      root.classList.remove('failed');
    },
  };
}
