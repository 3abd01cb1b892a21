// A conversation on the screen: a Chat of the AI SDK, and what keeps it true. The Chat streams the turns of this tab. The conversation loads the
// history, shows what other tabs and people do, stops turns, answers requests, and keeps what was typed.
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { Components } from './components.js';
import { isNetworkError, isUnknown, LostConnection, passes, TributaryError } from './errors.js';
import type { Answer, PendingRequest, SessionEvent, TurnNews } from './events.js';
import { filesOf, textOf } from './message.js';
import type { ChatLike, Component, ConversationOptions, ConversationState } from './options.js';
import { replacesOnResume } from './profile.js';
import { Requests } from './requests.js';
import { Screen } from './screen.js';
import { watched, within } from './streams.js';
import { type HistoryPage, ONLY_UNFINISHED, type TributaryTransport } from './transport.js';
import { Turns } from './turns.js';

/** In milliseconds. MOMENT: in which a turn of this tab ends on its stream and among the events. PATIENCE: how long a stop waits for the agent's last words. */
const MOMENT = 150,
  LONGEST = 30_000,
  PATIENCE = 6000;

export class Conversation<M extends UIMessage, C extends ChatLike<M>> {
  readonly id: string;
  readonly transport: TributaryTransport<M>;
  readonly chat: C;

  #state: ConversationState = {
    loading: true,
    more: false,
    connected: true,
    missing: false,
    deleted: false,
    problem: undefined,
    draft: '',
  };
  #listeners = new Set<(state: ConversationState) => void>();
  #components = new Components<M>();

  #screen: Screen;
  #turns = new Turns();
  /** The streams of this tab that are open. Each resolves at its end. */
  #streams = new Set<Promise<void>>();
  #loaded: Promise<void> | undefined;
  #before: string | null = null;
  #exists = false;
  #open = false;
  #events: AbortController | undefined;
  #mark = '';
  #losses = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsent: { id: string; taken: () => void } | undefined;
  /** What was on the screen before the edit that is about to be sent, or before the answer is regenerated. */
  #replaced: M[] | undefined;
  #requests = new Requests(
    () => this.transport.requests(this.id),
    () => this.#set({}),
  );

  constructor({ id, transport, fresh, init, create }: ConversationOptions<M, C>) {
    this.id = id;
    this.transport = transport;
    this.#screen = new Screen(fresh ? 'current' : 'behind');
    if (fresh) this.#loaded = Promise.resolve();
    this.#state = { ...this.#state, loading: !fresh && !init?.messages?.length, missing: !!fresh };
    this.chat = create({
      ...init,
      id,
      transport: this.#wire(),
      onData: part => {
        this.#components.tell(one => one.onData?.(part));
      },
      onError: error => {
        this.#components.tell(one => one.onError?.(error));
      },
      onFinish: end => {
        this.#components.tell(one => one.onFinish?.(end));
      },
      onToolCall: async call => {
        await Promise.all(this.#components.tell(one => one.onToolCall?.(call)));
      },
      sendAutomaticallyWhen: now => this.#components.sends(now),
    });
  }

  /** Tells and asks a component that shows the conversation, until the result is called. */
  attach = (component: Component<M>) => this.#components.attach(component);

  // ----- state

  get state() {
    return this.#state;
  }

  /** Calls run with each new state, and with the present one. Returns what ends that. */
  subscribe = (run: (state: ConversationState) => void) => {
    this.#listeners.add(run);
    run(this.#state);
    return () => {
      this.#listeners.delete(run);
    };
  };

  #set(change: Partial<ConversationState>) {
    this.#state = { ...this.#state, ...change };
    for (const run of this.#listeners) run(this.#state);
  }

  get busy() {
    return this.#streams.size > 0 || this.chat.status === 'submitted' || this.chat.status === 'streaming';
  }

  /** The requests that wait for a person: those that these messages of the chat show, then the others of the session. may_answer is missing until the gateway has said more about a request. */
  requests(messages: readonly UIMessage[] = this.chat.messages): PendingRequest[] {
    return this.#requests.among(messages);
  }

  /** Whether a person would lose something with this conversation. */
  get kept() {
    return this.busy || this.#state.draft !== '';
  }

  // ----- life

  /** From now on the conversation follows its session. A call after an error tries again. */
  open = () => {
    this.#open = true;
    this.ready().then(
      () => {
        void this.#listen();
        this.#soon();
      },
      () => {
        /* the state says why */
      },
    );
  };

  /** The conversation is not on the screen: it follows nothing. An answer that is being streamed goes on. */
  close() {
    this.#open = false;
    this.#quiet();
  }

  /** Ends all that is open. The turn goes on in the gateway. */
  async end() {
    this.close();
    await this.chat.stop();
  }

  /** Loads the newest page of the history, once. */
  ready = (): Promise<void> => {
    if (this.#loaded !== undefined) return this.#loaded;
    this.#set({ loading: this.chat.messages.length === 0, problem: undefined });
    this.#loaded = this.#read();
    this.#loaded.catch(() => {
      this.#loaded = undefined;
    });
    return this.#loaded;
  };

  // ----- what a person does

  /** Sends a message as the Chat does, when the history is there. */
  sendMessage = async (message?: { text?: string; messageId?: string; [key: string]: unknown }, options?: object): Promise<void> => {
    this.#set({ problem: undefined });
    const files = filesOf(message?.files); // before anything is awaited: the app may clear its field at once
    try {
      await this.ready();
    } catch (error) {
      if (message?.text) this.setDraft(now => now || message.text!);
      throw error;
    }
    if (message?.messageId !== undefined) await this.#replace();
    await this.chat.sendMessage((files !== undefined ? { ...message, files: await files } : message) as never, options as never);
  };

  regenerate = async (options?: { messageId?: string; [key: string]: unknown }): Promise<void> => {
    this.#set({ problem: undefined });
    await this.ready();
    await this.#replace();
    await this.chat.regenerate(options as never);
  };

  /** A late chunk of the old answer would bring it back. */
  async #replace() {
    if (this.busy) await this.chat.stop();
    this.#replaced = [...this.chat.messages];
  }

  /** Ends the turn, for everybody. The last words of the agent still come. */
  stop = () =>
    this.#try(async () => {
      const streams = [...this.#streams];
      let begun = true;
      try {
        await this.transport.stopTurn(this.id);
        await within(PATIENCE, Promise.all(streams));
      } catch (error) {
        if (!(error instanceof TributaryError && error.status === 404)) throw error;
        begun = false; // the prompt is still on its way to the gateway
      }
      if (streams.some(stream => this.#streams.has(stream)) || (!begun && this.busy && this.#streams.size === 0)) await this.chat.stop();
      this.#miss();
    });

  /** Answers a request. The rest of the turn comes by itself. */
  answer = (request: string | { id: string }, answer: Answer) =>
    this.#try(async () => {
      const id = typeof request === 'string' ? request : request.id;
      try {
        await this.transport.answer(this.id, id, answer);
      } catch (error) {
        this.#miss(); // somebody else may have answered
        throw error;
      }
      this.#requests.answered(id);
      if (!this.busy) void this.#resume(this.chat.messages.at(-1)?.id); // a stream that was held open shows the rest by itself
    });

  /** Reads the newest messages again, for an app that has heard of something by another way. */
  refresh = () => this.#miss();

  /** Puts the page before the first message above it. onArrival runs before that, for example to note the place of what a person reads. */
  earlier = ({ onArrival }: { onArrival?: () => void } = {}) =>
    this.#try(async () => {
      const before = this.#before;
      if (before === null) return;
      const page = await this.transport.history(this.id, { before });
      if (this.#before !== before) return; // another page is the first one now
      onArrival?.();
      this.#before = page.before;
      this.chat.messages = [...page.messages, ...this.chat.messages];
      this.#set({ more: page.before !== null });
    });

  setDraft = (draft: string | ((now: string) => string)) => {
    this.#set({ draft: typeof draft === 'function' ? draft(this.#state.draft) : draft });
  };

  /** Sends the draft, with files if there are any. */
  submit = async (options: { files?: unknown; metadata?: unknown; body?: object } = {}): Promise<void> => {
    const { body, ...more } = options,
      text = this.#state.draft;
    if (!text.trim() && !(more.files as ArrayLike<unknown> | undefined)?.length) return;
    this.#set({ draft: '' });
    await this.sendMessage({ text, ...more }, body && { body });
  };

  clearError = () => {
    this.#set({ problem: undefined });
    this.chat.clearError();
  };

  async #try(act: () => Promise<void>): Promise<void> {
    this.#set({ problem: undefined });
    try {
      await act();
    } catch (error) {
      this.#set({ problem: error as Error });
      throw error;
    }
  }

  // ----- the Chat's streams

  #wire(): ChatTransport<M> & { resumeStreamIsReplay: boolean } {
    return {
      resumeStreamIsReplay: true,
      sendMessages: async options => {
        const replaced = this.#replaced;
        this.#replaced = undefined;
        try {
          return (await this.#stream(async () => {
            if (!this.#exists) await this.#components.first('onBegin')?.();
            const agent = this.#exists ? undefined : this.#components.first('agent'),
              body = agent === undefined ? options.body : { agent, ...options.body };
            const stream = await this.transport.sendMessages({ ...options, body });
            this.#exists = true;
            if (this.#state.missing) this.#set({ missing: false });
            return stream;
          }))!;
        } catch (error) {
          if (!options.abortSignal?.aborted) this.#refused(options, replaced);
          throw error;
        }
      },
      reconnectToStream: options => this.#stream(() => this.transport.reconnectToStream({ ...options, metadata: ONLY_UNFINISHED })),
    };
  }

  /** Opens a stream, and follows it to its end. A stream has the place of the events among the few connections of a browser. */
  async #stream(open: () => Promise<ReadableStream<UIMessageChunk> | null>) {
    let end!: () => void;
    const own = new Promise<void>(resolve => {
      end = resolve;
    });
    if (this.#streams.size > 0) this.#screen.on('missed'); // a prompt behind a turn that runs: the screen may have the messages in another order
    this.#streams.add(own);
    this.#screen.on('stream');
    this.#quiet();
    const done = (error?: unknown, message?: string) => {
      if (!this.#streams.delete(own)) return;
      this.#losses = isNetworkError(error) ? this.#losses + 1 : 0;
      if (isNetworkError(error)) this.#screen.on('missed');
      if (error === undefined) this.#turns.over(message);
      end();
      this.#soon();
    };
    try {
      const stream = await open();
      if (stream)
        return watched(stream, {
          asked: () => {
            setTimeout(() => this.#requests.ask(this.chat.messages), MOMENT);
          }, // the Chat has it then
          over: message => done(undefined, message),
          broke: (error, message) => {
            if (isNetworkError(error) || isUnknown(error)) this.#turns.broke(message);
            done(error);
            // A release that adds to a message on resume would keep what it has of this one, and add all of it again.
            return replacesOnResume() || !isNetworkError(error) ? error : new LostConnection(error.message, { cause: error });
          },
        });
      done();
      this.#miss(); // what was to be resumed is over
      return null;
    } catch (error) {
      done(error);
      throw error;
    }
  }

  /** A message that the gateway did not take is a draft again. */
  #refused({ trigger, messageId, messages }: { trigger: string; messageId: string | undefined; messages: M[] }, replaced: M[] | undefined) {
    this.#miss();
    const last = messages.at(-1),
      edits = messageId !== undefined;
    if (replaced) this.chat.messages = replaced; // the gateway has removed nothing
    if (trigger !== 'submit-message' || last?.role !== 'user') return;
    const taken = edits
      ? new Promise<void>(() => {
          /* the history has a message with this id anyway */
        })
      : new Promise<void>(resolve => {
          this.chat.messages = this.chat.messages.filter(({ id }) => id !== last.id);
          this.#unsent = { id: last.id, taken: resolve };
        });
    if (this.#components.has('onRefused')) return void this.#components.tell(one => one.onRefused?.({ message: last, messageId, taken }));
    const text = textOf(last);
    this.setDraft(now => now || text);
    void taken.then(() => this.setDraft(draft => (draft === text ? '' : draft)));
  }

  // ----- catching up

  #miss() {
    this.#screen.on('missed');
    this.#soon();
  }

  /** Looks in a moment; after lost connections, later. */
  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), this.#losses === 0 ? MOMENT : Math.min(LONGEST, 500 * 2 ** this.#losses));
  }

  /** Reads the history again, if the screen may lack anything. */
  #look() {
    if (this.#streams.size > 0 || !this.#open || !this.#screen.can('read')) return; // the end of each looks again
    if (!this.#loaded) return this.open();
    if (this.busy) return this.#soon(); // the Chat is about to see the end of its stream
    void this.#listen();
    this.#requests.ask(this.chat.messages);
    const missed = this.#turns.missed(this.chat.error !== undefined);
    if (missed.length > 0 || this.#screen.state === 'behind')
      this.#read(missed).catch(() => {
        /* the state says why */
      });
  }

  /** Reads the newest page, shows it, and follows a turn that runs. missed: left out for the first page, which is shown in any case. */
  async #read(missed?: readonly TurnNews[]): Promise<void> {
    this.#screen.on('read');
    let page: HistoryPage<M>;
    try {
      page = await this.transport.history(this.id);
    } catch (problem) {
      this.#screen.on('none');
      this.#losses++;
      this.#set(passes(problem) ? { connected: false } : { loading: false, problem: problem as Error });
      if (missed || passes(problem)) this.#soon();
      throw problem;
    }
    const current = this.#screen.can('page') && (!missed || (!this.busy && this.#open)); // else a message was sent meanwhile, which must stay
    this.#screen.on(current ? 'page' : 'none');
    this.#soon();
    if (missed && !current) return;
    this.#losses = 0;
    this.#turns.shown(missed ?? []);
    this.#show(page);
    if (isNetworkError(this.chat.error)) this.chat.clearError(); // the connection is back
    this.#requests.ask(this.chat.messages);
    const running = missed?.find(({ state }) => state === 'running'),
      { cut } = this.#turns;
    if (running || cut !== undefined) void this.#resume(running?.message_id ?? cut); // that a turn runs is told once, and its stream may break off twice
  }

  /** Puts the newest page on the screen, below the pages that are above it. */
  #show(page: HistoryPage<M>) {
    this.#exists ||= !page.missing;
    const now = this.chat.messages,
      begin = now.findIndex(({ id }) => id === page.messages[0]?.id);
    if (begin <= 0) this.#before = page.before;
    this.chat.messages = [...now.slice(0, Math.max(0, begin)), ...page.messages];
    if (page.messages.some(({ id }) => id === this.#unsent?.id)) this.#unsent?.taken();
    this.#set({ loading: false, connected: true, missing: !!page.missing, more: this.#before !== null });
  }

  /** Follows a turn that runs. Where the release would add to the message that it shows, the message goes first. */
  async #resume(message: string | undefined) {
    if (!replacesOnResume() && message !== undefined && this.chat.messages.at(-1)?.id === message)
      this.chat.messages = this.chat.messages.slice(0, -1);
    await this.chat.resumeStream();
  }

  #quiet() {
    this.#events?.abort();
    this.#events = undefined;
  }

  /** Follows the events of the session, from its mark on, while the conversation is open and streams nothing. */
  async #listen() {
    if (this.#events || !this.#open || !this.#exists || this.#streams.size > 0 || this.#state.deleted) return;
    const own = (this.#events = new AbortController()),
      { signal } = own;
    try {
      for await (const event of this.transport.events(this.id, {
        after: this.#mark,
        signal,
        persists: true,
        onConnection: this.#connection,
      }))
        this.#take(event);
    } catch (problem) {
      if (signal.aborted) return;
      this.#set({ problem: problem as Error });
    }
    if (this.#events === own) this.#events = undefined;
  }

  #connection = (connected: boolean, why?: Error) => {
    const { problem } = this.#state,
      refused = isUnknown(why);
    if (connected) {
      this.#losses = 0;
      if (isNetworkError(this.chat.error) || this.#turns.cut !== undefined) this.#screen.on('missed'); // so was a request of this tab's own
      this.#soon();
    }
    this.#set({ connected: connected || refused, problem: refused ? why : connected && isUnknown(problem) ? undefined : problem });
  };

  #take(event: SessionEvent & { mark: string }) {
    this.#mark = event.mark;
    if (event.type === 'deleted') return this.#set({ deleted: true });
    if (event.type === 'session' || event.type === 'history') this.#screen.on('missed'); // how it stands; since what is not known
    for (const turn of event.type === 'session' ? event.turns : event.type === 'turn' ? [event] : []) {
      if (turn.state === 'paused') this.#requests.changed();
      this.#turns.told(turn);
    }
    this.#soon();
  }
}
