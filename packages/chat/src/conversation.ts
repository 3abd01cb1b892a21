// A conversation on the screen: a Chat of the AI SDK, and what keeps it true. The Chat streams the turns of this tab. The conversation loads the
// history, shows what other tabs and people do, stops turns, answers requests, and keeps what was typed.
import { convertFileListToFileUIParts, type ChatInit, type ChatTransport, type FileUIPart, type UIMessage, type UIMessageChunk } from 'ai';
import { isNetworkError, isUnknown, LostConnection, passes, TributaryError } from './errors.js';
import type { Answer, PendingRequest, SessionEvent, TurnNews } from './events.js';
import { textOf } from './message.js';
import { replacesOnResume } from './profile.js';
import { pendingRequests } from './requests.js';
import type { HistoryPage, TributaryTransport } from './transport.js';

/** What a Chat of every release and framework has. */
export interface ChatLike<M extends UIMessage> {
  messages: M[];
  readonly status: 'submitted' | 'streaming' | 'ready' | 'error';
  readonly error: Error | undefined;
  sendMessage: (message?: never, options?: never) => Promise<void>;
  regenerate: (options?: never) => Promise<void>;
  resumeStream: () => Promise<void>;
  stop: () => Promise<void>;
  clearError: () => void;
}

export interface ConversationState {
  /** The history is not on the screen yet. */
  loading: boolean;
  /** Whether older messages are to be had. */
  more: boolean;
  /** Whether the gateway is reached. If not, the conversation tries again by itself. */
  connected: boolean;
  /** There is no session with this id yet. */
  missing: boolean;
  /** The session was deleted. */
  deleted: boolean;
  /** Why the history or the events cannot be read, or the last call was refused. */
  problem: Error | undefined;
  /** What is typed and not sent. A message that the gateway did not take is a draft again. */
  draft: string;
}

/** A message that the gateway did not take. */
export interface Refused<M extends UIMessage> {
  message: M;
  /** The message that it would have replaced, if it was an edit. */
  messageId?: string;
  /** Resolves if the history has the message after all, because the connection was lost behind it. */
  taken: Promise<void>;
}

/** The options of a Chat that an app may set, and those of a conversation. */
export interface Callbacks<M extends UIMessage> extends Pick<ChatInit<M>, 'onData' | 'onError' | 'onFinish' | 'onToolCall'> {
  /** Runs before a prompt goes to a session that does not exist yet, for example to make the session with a mode. If it throws, the prompt is refused. */
  onBegin?: () => Promise<void>;
  /** Takes a message that the gateway did not take, in the place of the draft. Messages that it would have replaced are on the screen again. */
  onRefused?: (refused: Refused<M>) => void;
}

export interface ConversationOptions<M extends UIMessage, C extends ChatLike<M>> {
  id: string;
  transport: TributaryTransport<M>;
  /** The app has just made the id, so that there is nothing to load. */
  fresh?: boolean;
  /** Makes the Chat of the framework. */
  create: (init: ChatInit<M>) => C;
}

/** A turn of this tab's own ends on its stream and among the events at about the same time. */
const MOMENT = 150, LONGEST = 30_000;
/** How long a stop waits for the last words of the agent, in milliseconds. */
const PATIENCE = 6000;

type News = TurnNews & { answered?: boolean };

export class Conversation<M extends UIMessage, C extends ChatLike<M>> {
  readonly id: string;
  readonly transport: TributaryTransport<M>;
  readonly chat: C;
  /** What an app wants to hear of; the newest ones count. */
  callbacks: Callbacks<M> = {};
  /** The agent, if the session is to be made by the first prompt. */
  agent: string | undefined;

  #state: ConversationState = { loading: true, more: false, connected: true, missing: false, deleted: false, problem: undefined, draft: '' };
  #listeners = new Set<(state: ConversationState) => void>();

  #loaded: Promise<void> | undefined;
  #before: string | null = null;
  #exists = false;
  #open = false;
  #streams = 0;
  /** How many streams have begun: a page of the history from before the newest one is old. */
  #begun = 0;
  /** The messages that a stream of this tab has brought as far as the turn has come: to its end, or to a request. */
  #streamed = new Set<string>();
  #events: AbortController | undefined;
  #mark = '';
  #news = new Map<string, News>();
  #waits = new Set<string>();
  /** The conversation may have missed anything. */
  #lost = false;
  /** The message whose stream broke off, until a stream comes to its end: its turn may run. '' if its id is not known. */
  #cut: string | undefined;
  #looking = false;
  #losses = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsent: { id: string; taken: () => void } | undefined;
  /** What was on the screen before the edit that is about to be sent, or before the answer is regenerated. */
  #replaced: M[] | undefined;
  #answered = new Set<string>();
  #offers = new Map<string, PendingRequest>();

  constructor({ id, transport, fresh, create }: ConversationOptions<M, C>) {
    this.id = id;
    this.transport = transport;
    if (fresh) {
      this.#loaded = Promise.resolve();
      this.#state = { ...this.#state, loading: false, missing: true };
    }
    this.chat = create({
      id,
      transport: this.#wire(),
      onData: part => this.callbacks.onData?.(part),
      onError: error => this.callbacks.onError?.(error),
      onFinish: end => this.callbacks.onFinish?.(end),
      onToolCall: call => this.callbacks.onToolCall?.(call),
    });
  }

  // ----- state

  get state() { return this.#state; }

  /** Calls run with each new state, and with the present one. Returns what ends that. */
  subscribe = (run: (state: ConversationState) => void) => {
    this.#listeners.add(run);
    run(this.#state);
    return () => { this.#listeners.delete(run); };
  };

  #set(change: Partial<ConversationState>) {
    this.#state = { ...this.#state, ...change };
    for (const run of this.#listeners) run(this.#state);
  }

  get busy() { return this.#streams > 0 || this.chat.status === 'submitted' || this.chat.status === 'streaming'; }

  /** The requests that wait for a person, among these messages of the chat. may_answer is missing until the gateway has said more about a request. */
  requests(messages: readonly UIMessage[] = this.chat.messages): PendingRequest[] {
    return pendingRequests(messages).filter(({ id }) => !this.#answered.has(id)).map(request => ({ ...request, ...this.#offers.get(request.id) }));
  }

  /** Whether a person would lose something with this conversation. */
  get kept() { return this.busy || this.#state.draft !== ''; }

  // ----- life

  /** From now on the conversation follows its session. A call after an error tries again. */
  open = () => {
    this.#open = true;
    this.ready().then(() => { this.#listen(); this.#soon(); }, () => { /* the state says why */ });
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
  ready = (): Promise<void> => (this.#loaded ??= this.#load());

  async #load() {
    this.#set({ loading: true, problem: undefined });
    try {
      const page = await this.transport.history(this.id);
      this.#show(page);
      this.#losses = 0;
      this.#set({ loading: false, connected: true });
      this.#ask();
    } catch (error) {
      this.#loaded = undefined;
      if (passes(error)) {
        this.#losses++;
        this.#set({ connected: false });
        this.#soon();
      } else this.#set({ loading: false, problem: error as Error });
      throw error;
    }
  }

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
    await this.chat.sendMessage((files ? { ...message, files: await files } : message) as never, options as never);
  };

  regenerate = async (options?: { messageId?: string; [key: string]: unknown }): Promise<void> => {
    this.#set({ problem: undefined });
    await this.#replace();
    await this.chat.regenerate(options as never);
  };

  /** A late chunk of the old answer would bring it back. */
  async #replace() {
    if (this.busy) await this.chat.stop();
    this.#replaced = [...this.chat.messages];
  }

  /** Ends the turn, for everybody. The last words of the agent still come. */
  stop = () => this.#try(async () => {
    const begun = this.#begun, end = Date.now() + PATIENCE, streams = () => this.busy && this.#begun === begun;
    try {
      await this.transport.stopTurn(this.id);
      while (streams() && Date.now() < end) await new Promise(resolve => { setTimeout(resolve, MOMENT); });
    } catch (error) {
      if (!(error instanceof TributaryError && error.status === 404)) throw error; // the session has not begun
    }
    if (streams()) await this.chat.stop();
    this.#miss();
  });

  /** Answers a request. The rest of the turn comes by itself. */
  answer = (request: string | { id: string }, answer: Answer) => this.#try(async () => {
    const id = typeof request === 'string' ? request : request.id;
    try {
      await this.transport.answer(this.id, id, answer);
    } catch (error) {
      this.#miss(); // somebody else may have answered
      throw error;
    }
    this.#answered.add(id);
    this.#set({});
    if (!this.busy) void this.#resume(this.chat.messages.at(-1)?.id); // a stream that was held open shows the rest by itself
  });

  /** Reads the newest messages again, for an app that has heard of something by another way. */
  refresh = () => { this.#miss(); };

  /** Puts the page before the first message above it. onArrival runs before that, for example to note the place of what a person reads. */
  earlier = ({ onArrival }: { onArrival?: () => void } = {}) => this.#try(async () => {
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
    const { body, ...more } = options, text = this.#state.draft;
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
        const done = this.#begin(), replaced = this.#replaced;
        this.#replaced = undefined;
        try {
          if (!this.#exists) await this.callbacks.onBegin?.();
          const body = this.agent !== undefined && !this.#exists ? { agent: this.agent, ...options.body } : options.body;
          const stream = await this.transport.sendMessages({ ...options, body });
          this.#found();
          return this.#counted(stream, done);
        } catch (error) {
          done(error);
          if (!options.abortSignal?.aborted) this.#refused(options, replaced);
          throw error;
        }
      },
      reconnectToStream: async options => {
        const done = this.#begin();
        try {
          const stream = await this.transport.reconnectToStream(options);
          if (stream) return this.#counted(stream, done);
          done();
          this.#miss(); // what was to be resumed is over
          return null;
        } catch (error) {
          done(error);
          throw error;
        }
      },
    };
  }

  /** A stream has the place of the events among the few connections of a browser. */
  #begin() {
    if (this.#streams++ > 0) this.#lost = true; // a prompt behind a turn that runs: the screen may have the messages in another order
    this.#begun++;
    this.#quiet();
    let over = false;
    return (error?: unknown, message?: string) => {
      if (over) return;
      over = true;
      this.#streams--;
      if (message !== undefined) this.#streamed.add(message);
      this.#losses = isNetworkError(error) ? this.#losses + 1 : 0;
      if (isNetworkError(error)) this.#lost = true;
      if (error === undefined) this.#cut = undefined;
      this.#soon();
    };
  }

  /** A stream that says when it is over, in whichever way, and which message it brought if it came to its end. It can stay open while the agent asks. */
  #counted(stream: ReadableStream<UIMessageChunk>, done: (error?: unknown, message?: string) => void): ReadableStream<UIMessageChunk> {
    const reader = stream.getReader();
    let message: string | undefined;
    return new ReadableStream({
      pull: async out => {
        try {
          const { done: end, value } = await reader.read();
          if (!end) {
            if (value.type === 'start') message = value.messageId;
            if (asks(value)) setTimeout(() => this.#ask(), MOMENT); // the Chat has it then
            return out.enqueue(value);
          }
          done(undefined, message);
          out.close();
        } catch (error) {
          if (isNetworkError(error) || isUnknown(error)) this.#cut = message ?? this.#cut ?? '';
          done(error);
          // A release that adds to a message on resume would keep what it has of this one, and add all of it again.
          out.error(replacesOnResume || !isNetworkError(error) ? error : new LostConnection(error.message, { cause: error }));
        }
      },
      cancel: reason => {
        done();
        return reader.cancel(reason);
      },
    });
  }

  /** A message that the gateway did not take is a draft again. */
  #refused({ trigger, messageId, messages }: { trigger: string; messageId: string | undefined; messages: M[] }, replaced: M[] | undefined) {
    this.#miss();
    const last = messages.at(-1), edits = messageId !== undefined;
    if (replaced) this.chat.messages = replaced; // the gateway has removed nothing
    if (trigger !== 'submit-message' || last?.role !== 'user') return;
    const taken = edits ? new Promise<void>(() => { /* the history has a message with this id anyway */ }) : new Promise<void>(resolve => {
      this.chat.messages = this.chat.messages.filter(({ id }) => id !== last.id);
      this.#unsent = { id: last.id, taken: resolve };
    });
    if (this.callbacks.onRefused) return this.callbacks.onRefused({ message: last, messageId, taken });
    const text = textOf(last);
    this.setDraft(now => now || text);
    void taken.then(() => this.setDraft(draft => (draft === text ? '' : draft)));
  }

  #found() {
    this.#exists = true;
    if (this.#state.missing) this.#set({ missing: false });
  }

  // ----- catching up

  #miss() {
    this.#lost = true;
    this.#soon();
  }

  /** Looks in a moment; after lost connections, later. */
  #soon() {
    clearTimeout(this.#timer);
    const wait = this.#losses === 0 ? MOMENT : Math.min(LONGEST, 500 * 2 ** this.#losses);
    this.#timer = setTimeout(() => { void this.#look(); }, wait);
  }

  /** Reads the history again, and resumes, if the chat has missed a turn. */
  async #look() {
    if (this.#looking || this.#streams > 0 || !this.#open) return; // the end of each looks again
    if (!this.#loaded) return this.open();
    if (this.busy) return this.#soon(); // the Chat is about to see the end of its stream
    this.#listen();
    this.#ask();
    const { error } = this.chat;
    // That a page has the message is not enough: the page may be from before the turn ended or paused.
    const shown = (t: News) => (t.state === 'ended' || t.state === 'paused') && !t.answered && !error && this.#streamed.has(t.message_id ?? '');
    for (const t of [...this.#news.values()]) if (shown(t)) this.#news.delete(t.turn);
    const missed = [...this.#news.values()];
    if (missed.length === 0 && !this.#lost) return;
    this.#looking = true;
    this.#lost = false; // the page may lack all that is missed from here on
    const begun = this.#begun;
    try {
      const page = await this.transport.history(this.id);
      if (this.busy || this.#begun !== begun || !this.#open) { // a message was sent meanwhile: it must stay
        this.#lost = true;
        return;
      }
      this.#losses = 0;
      if (!this.#state.connected) this.#set({ connected: true });
      for (const t of missed) if (this.#news.get(t.turn) === t) this.#news.delete(t.turn);
      this.#show(page);
      if (isNetworkError(this.chat.error)) this.chat.clearError(); // the connection is back
      const running = missed.find(({ state }) => state === 'running');
      if (running || this.#cut !== undefined) await this.#resume(running?.message_id ?? this.#cut); // that a turn runs is told once, and its stream may break off twice
      this.#ask();
    } catch (problem) {
      this.#lost = true;
      this.#losses++;
      this.#set(passes(problem) ? { connected: false } : { problem: problem as Error });
    } finally {
      this.#looking = false;
      this.#soon();
    }
  }

  /** Puts the newest page on the screen, below the pages that are above it. */
  #show(page: HistoryPage<M>) {
    if (page.missing) this.#set({ missing: true }); else this.#found();
    const now = this.chat.messages, begin = now.findIndex(({ id }) => id === page.messages[0]?.id);
    if (begin <= 0) this.#before = page.before;
    this.chat.messages = [...now.slice(0, Math.max(0, begin)), ...page.messages];
    const unsent = this.#unsent;
    if (unsent && page.messages.some(({ id }) => id === unsent.id)) {
      this.#unsent = undefined;
      unsent.taken();
    }
    this.#set({ more: this.#before !== null });
  }

  /** Follows a turn that runs. Where the release would add to the message that it shows, the message goes first. */
  async #resume(message: string | undefined) {
    if (!replacesOnResume && message !== undefined && this.chat.messages.at(-1)?.id === message) this.chat.messages = this.chat.messages.slice(0, -1);
    await this.chat.resumeStream();
  }

  #quiet() {
    this.#events?.abort();
    this.#events = undefined;
  }

  /** Follows the events of the session, from its mark on, while the conversation is open and streams nothing. */
  #listen() {
    if (this.#events || !this.#open || !this.#exists || this.#streams > 0 || this.#state.deleted) return;
    const own = (this.#events = new AbortController());
    void (async () => {
      try {
        for await (const event of this.transport.events(this.id, { after: this.#mark, signal: own.signal, persists: true, onConnection: this.#connection })) this.#take(event);
      } catch (problem) {
        if (own.signal.aborted) return;
        this.#set({ problem: problem as Error });
      }
      if (this.#events === own) this.#events = undefined;
    })();
  }

  #connection = (connected: boolean, why?: Error) => {
    const { problem } = this.#state, refused = isUnknown(why);
    if (connected) {
      this.#losses = 0;
      if (isNetworkError(this.chat.error) || this.#cut !== undefined) this.#lost = true; // so was a request of this tab's own
      this.#soon();
    }
    this.#set({ connected: connected || refused, problem: refused ? why : connected && isUnknown(problem) ? undefined : problem });
  };

  #take(event: SessionEvent & { mark: string }) {
    this.#mark = event.mark;
    if (event.type === 'deleted') return this.#set({ deleted: true });
    if (event.type === 'session' || event.type === 'history') this.#lost = true; // how it stands; since what is not known
    for (const t of event.type === 'session' ? event.turns : event.type === 'turn' ? [event] : []) {
      // Once somebody has answered, the turn is longer than what the screen shows of it.
      this.#news.set(t.turn, { ...t, answered: this.#waits.has(t.turn) || this.#news.get(t.turn)?.answered });
      if (t.state === 'paused') this.#waits.add(t.turn); else this.#waits.delete(t.turn);
    }
    this.#soon();
  }

  /** Asks what the agent offers with the requests that are on the screen. Without an answer, yes and no remain. */
  #ask() {
    const open = this.requests();
    if (open.length === 0 || open.every(({ id }) => this.#offers.has(id))) return;
    for (const request of open) if (!this.#offers.has(request.id)) this.#offers.set(request.id, request);
    const known = (requests: PendingRequest[]) => {
      for (const request of [...open.map(o => ({ ...o, may_answer: true })), ...requests.map(r => ({ input_text: undefined, ...r }))]) this.#offers.set(request.id, { ...this.#offers.get(request.id), ...request });
      this.#set({});
    };
    this.transport.requests(this.id).then(known, () => known([]));
  }
}

/** The parts of a list of files, which a browser empties when the app clears the field; undefined for all else that a Chat takes. */
function filesOf(files: unknown): Promise<FileUIPart[]> | undefined {
  if (typeof FileList === 'undefined' || !(files instanceof FileList)) return undefined;
  const parts = convertFileListToFileUIParts(files);
  parts.catch(() => { /* a file that cannot be read fails where the parts are awaited */ });
  return parts;
}

/** Whether a piece of a stream asks a person something. */
const asks = (chunk: UIMessageChunk) => chunk.type === 'tool-approval-request' || (chunk.type === 'tool-input-available' && /^Ask/.test(chunk.toolName));
