// How the screen stands to the history in the gateway: the states, and what each event makes of them. The conversation decides by this table.

/**
 * read: the newest page is asked for. page: the page is shown. none: no page came that may be shown. missed: the screen may lack
 * something, and so may a page that is on its way. stream: a stream of this tab begins, so a page that is on its way lacks its messages.
 */
export type ScreenEvent = 'read' | 'page' | 'none' | 'missed' | 'stream';

/**
 * current: the screen shows all that this tab has heard of. behind: the newest page is to be read. reading: the page is on its way.
 * outdated: a page is on its way, and another one is to be read after it. overtaken: the same, and the page must not be shown.
 */
export type ScreenState = 'current' | 'behind' | 'reading' | 'outdated' | 'overtaken';

const NEXT: Record<ScreenState, Partial<Record<ScreenEvent, ScreenState>>> = {
  current: { read: 'reading', missed: 'behind', stream: 'current' },
  behind: { read: 'reading', missed: 'behind', stream: 'behind' },
  reading: { page: 'current', none: 'behind', missed: 'outdated', stream: 'overtaken' },
  outdated: { page: 'behind', none: 'behind', missed: 'outdated', stream: 'overtaken' },
  overtaken: { none: 'behind', missed: 'overtaken', stream: 'overtaken' },
};

export class Screen {
  #state: ScreenState;

  constructor(state: ScreenState) {
    this.#state = state;
  }

  get state() {
    return this.#state;
  }

  /** Whether the table has this event for the present state. */
  can(event: ScreenEvent): boolean {
    return NEXT[this.#state][event] !== undefined;
  }

  /** Throws if the table does not have the event: then there is a fault in the conversation. */
  on(event: ScreenEvent) {
    const next = NEXT[this.#state][event];
    if (next === undefined) throw new Error(`A screen that is ${this.#state} cannot have the event ${event}.`);
    this.#state = next;
  }
}
