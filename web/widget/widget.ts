// Tributary in a page of another origin: one script, one button, and the chat in a frame of the gateway's origin.
import { makeFrame, type Frame } from './frame';
import { makeLauncher, type Launcher } from './launcher';
import { fromAttributes, type Options } from './options';
import { keep, kept } from './kept';
import type { ToHost } from './protocol';

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;

class Widget {
  private launcher: Launcher;
  private frame: Frame | null = null;
  private open = false;
  private before: HTMLElement | null = null; // had the focus when the chat opened

  constructor(
    private options: Options,
    private gateway: string,
  ) {
    this.launcher = makeLauncher(
      options,
      () => this.show(!this.open),
      () => this.show(false),
    );
    if (options.open) this.show(true, false);
  }

  /** focus: false where no person has asked for the chat. */
  show(open: boolean, focus = true) {
    if (open === this.open) return;
    this.open = open;
    const focused = document.activeElement;
    if (open) {
      this.before = focused instanceof HTMLElement && focused !== document.body && focused !== this.launcher.host ? focused : null;
      this.frame ??= this.begin();
    }
    this.launcher.show(open);
    this.frame?.tell({ type: 'shown', open, focus });
    if (open && focus) this.frame?.element.focus();
    else if (focused === this.launcher.host) (this.before?.isConnected ? this.before : this.launcher.button).focus();
  }

  /** Makes the frame, if there is none. A page whose visitors do not chat asks the gateway for nothing but the script. */
  private begin(): Frame {
    const { agent, session, title, theme, label } = this.options;
    const frame = makeFrame(
      this.gateway,
      title ?? label ?? 'Chat',
      message => this.told(frame, message),
      sentence => {
        console.error(`Tributary: ${sentence}`);
        this.launcher.problem('The chat cannot be shown on this page.');
        this.drop();
      },
    );
    this.launcher.fine();
    this.launcher.panel.replaceChildren(frame.element);
    frame.tell({ type: 'start', start: { agent, session, title: title ?? label, theme }, last: kept() });
    return frame;
  }

  private told(frame: Frame, message: ToHost) {
    switch (message.type) {
      case 'token':
        void this.answer(frame, message.ask);
        break;
      case 'unread':
        this.launcher.unread(message.count);
        break;
      case 'close':
        this.show(false);
        break;
      case 'begun':
        keep(message.last);
        break;
    }
  }

  private async answer(frame: Frame, ask: number) {
    try {
      const token = (await this.options.getToken?.()) ?? undefined;
      frame.tell({ type: 'token', ask, token });
    } catch (e) {
      console.error('Tributary: getToken failed.', e);
      frame.tell({ type: 'token', ask, problem: 'The page could not get a token for the chat.' });
    }
  }

  private drop() {
    this.frame?.remove();
    this.frame = null;
    this.launcher.unread(0);
  }

  /** Ends the sign-in: the frame goes, and the token with it. Nothing tells which conversation it was. */
  logout() {
    this.show(false);
    this.drop();
    keep(null);
  }

  /** Another person is in front of the page, or the same one elsewhere. */
  identify(change: Options) {
    const open = this.open;
    this.logout();
    this.options = { ...this.options, ...change };
    if (open) this.show(true);
  }

  destroy() {
    this.drop();
    this.launcher.host.remove();
  }
}

let widget: Widget | null = null;

function gatewayOf(options: Options) {
  const named = options.gateway ?? script?.src;
  if (!named)
    throw new Error('Tributary: init() needs the origin of the gateway: load widget.js by a script tag, or set the option gateway.');
  return new URL(named, document.baseURI).origin;
}

const Tributary = {
  /** Puts the chat into the page, in the place of one that is there. */
  init(options: Options = {}) {
    const gateway = gatewayOf(options);
    widget?.destroy();
    widget = new Widget(options, gateway);
    return Tributary;
  },
  open() {
    widget?.show(true);
  },
  close() {
    widget?.show(false);
  },
  identify(change: Options = {}) {
    widget?.identify(change);
  },
  logout() {
    widget?.logout();
  },
  destroy() {
    widget?.destroy();
    widget = null;
  },
};

declare global {
  interface Window {
    Tributary: typeof Tributary;
  }
}
window.Tributary = Tributary;

const said = fromAttributes(script);
if (said && document.body) Tributary.init(said);
else if (said) addEventListener('DOMContentLoaded', () => Tributary.init(said), { once: true });
