// One run of one case with one client: the argument of a case's run(t), and its findings.
import { randomUUID } from 'node:crypto';
import { open } from './drive.mjs';
import { drop, holdResume, requests } from './browser.mjs';
import { difference, plain } from './message.mjs';
import { http } from './server.mjs';
import { PATIENCE } from './site.mjs';

// Fields of parts that the first releases drop, so that no server can make their screen equal the history.
const FORGETS = {
  '5.0.0': { reasoning: ['id'], 'dynamic-tool': ['providerExecuted'] },
  '6.0.0': { reasoning: ['id'] },
  '7.0.0': { reasoning: ['id'] },
};

/** A trial that hangs must not hang the run. */
const tooLong = seconds =>
  new Promise((_, fail) => setTimeout(() => fail(new Error(`the trial was not over after ${seconds} s`)), seconds * 1000).unref());

/** Thrown when going on makes no sense; the check that failed is already noted. */
class Enough extends Error {}

export class Trial {
  failures = [];
  skipped = null;
  #opened = [];
  #own = null;

  /** site: lib/server.mjs http(); client: lib/clients.mjs load(); profile: none, or the client's own major. */
  constructor({ site, client, way, profile, shared }) {
    Object.assign(this, { site, client, way, shared });
    this.profile = profile === 'own' ? client.major : undefined;
    this.id = randomUUID();
  }

  /** The api option of an app that names its profile, or does not. */
  api(query = {}) {
    const q = new URLSearchParams({ ...(this.profile ? { client: String(this.profile) } : {}), ...query }).toString();
    return `${this.site.base}/api/chat${q ? `?${q}` : ''}`;
  }

  /** The stock transport. The first releases glue the resume path behind the query, so with a query their apps name that URL. */
  transport({ query, stock = false, ...more } = {}) {
    const api = this.api(query),
      [path, search] = api.split('?');
    const named =
      search && !this.client.keepsQuery && !stock
        ? { prepareReconnectToStreamRequest: ({ id }) => ({ api: `${path}/${encodeURIComponent(id)}/stream?${search}` }) }
        : {};
    return new this.client.ai.DefaultChatTransport({ api, headers: this.site.headers, ...named, ...more });
  }

  /** A chat as a stock app opens it; ready when it shows its first screen. */
  async open({ id = this.id, transport = this.transport(), ...init } = {}) {
    return this.keep(await open(this.client, this.way, { id, transport, ...init }));
  }

  /** A chat with no options at all. */
  async openBare() {
    return this.keep(await open(this.client, this.way, undefined));
  }

  /** A page that loads: the history of the server, then the chat. */
  async reload(init = {}) {
    return this.open({ ...init, messages: await this.history(init.id) });
  }

  /** Waits until the newest resume request is answered with a stream and over, and its end is on screen. */
  async resumed(chat, id = this.id) {
    const get = () => this.requests(id).findLast(r => r.method === 'GET');
    await chat.until('the resume is answered', () => get()?.status);
    this.equal('the resume is answered with a stream', get().status, 200);
    await chat.until('the resumed stream is over', () => !get().open);
    await chat.settled();
  }

  keep(chat) {
    this.#opened.push(chat);
    return chat;
  }

  /** From now on this trial talks to a gateway with this configuration, which all trials share that ask for the same. */
  async configured(yaml) {
    if (!this.shared.has(yaml)) this.shared.set(yaml, this.site.another({ yaml }));
    this.#goTo(await this.shared.get(yaml));
  }

  /** From now on this trial has a gateway of its own, which ends with it. */
  async alone() {
    this.#own = await this.site.another();
    this.#goTo(this.#own);
    return this.#own;
  }

  #goTo(server) {
    this.site = { ...this.site, ...http(server), work: server.work, said: server.said, far: server.far };
  }

  /** What stands in the trace of the chat, of one type. */
  async trace(type, id = this.id) {
    const r = await this.site.get(`/api/sessions/${encodeURIComponent(id)}/trace`);
    return r.text
      .split('\n')
      .filter(Boolean)
      .map(l => JSON.parse(l))
      .filter(l => l.type === type);
  }

  /** Waits until what() holds that the server tells. */
  async until(what, ms = PATIENCE) {
    for (const end = Date.now() + ms; !(await what()); ) {
      if (Date.now() > end) throw new Error(`waited ${ms} ms in vain for the server`);
      await new Promise(r => setTimeout(r, 50));
    }
  }

  /** How many POSTs the client has sent for the chat. */
  posts(id = this.id) {
    return this.requests(id).filter(r => r.method === 'POST').length;
  }

  /** The chat has come to rest after just so many POSTs, and stays there: no client asks again and again. */
  async calm(chat, posts, name, id = this.id) {
    await chat.settled();
    await new Promise(r => setTimeout(r, 100));
    await chat.settled();
    this.equal(`${name}: the POSTs that it takes`, this.posts(id), posts);
    this.well(chat, `${name}: without an error`);
  }

  /** The folder the agent works in. */
  get work() {
    return this.site.work;
  }

  /** The history as the gateway gives it, which the client's own check of messages accepts. 5.0.0 has no such check. */
  async history(id = this.id) {
    const messages = await this.site.history(id, this.profile);
    if (messages.length && this.client.ai.safeValidateUIMessages) {
      const { success, error } = await this.client.ai.safeValidateUIMessages({ messages });
      this.check('validateUIMessages accepts the history', success, error?.message);
    }
    return messages;
  }

  stop(id = this.id) {
    return this.site.post(`/api/chat/${encodeURIComponent(id)}/stop`);
  }
  requests(id = this.id) {
    return requests(id);
  }
  /** The next resume request of this chat does not leave the page until the function that this returns is called. */
  holdResume(id = this.id) {
    return holdResume(id);
  }
  /** Every connection of this chat is lost now. */
  drop(id = this.id) {
    drop(id);
  }

  /** Whatever key names, found once for all trials of this client, way and profile that ask for it. */
  once(key, make) {
    const full = `${key} ${this.client.name} ${this.way} ${this.profile}`;
    if (!this.shared.has(full)) this.shared.set(full, make());
    return this.shared.get(full);
  }

  /** The last message of an undisturbed turn of this prompt, in a session of its own. */
  undisturbed(text) {
    return this.once(`undisturbed ${text}`, async () => {
      const chat = await this.open({ id: randomUUID() });
      chat.send(text);
      await chat.settled();
      return plain(chat.last);
    });
  }

  /** Parts of the history without what this client does not keep, to compare with its screen. */
  kept(parts) {
    const forgets = FORGETS[this.client.name] ?? {};
    return plain(parts)?.map(p => {
      for (const key of forgets[p.type] ?? []) delete p[key];
      return p;
    });
  }

  check(name, holds, detail = '') {
    const line = String(detail).replace(/\s+/g, ' ');
    if (!holds) this.failures.push({ check: name, detail: line.length > 400 ? `${line.slice(0, 400)}…` : line });
    return holds;
  }

  equal(name, got, want) {
    const d = difference(plain(got) ?? null, plain(want) ?? null);
    return this.check(name, d === null, d);
  }

  /** As check, and ends the trial when it does not hold. */
  must(name, holds, detail) {
    if (!this.check(name, holds, detail)) throw new Enough(name);
  }

  /** The turn ended well on screen. */
  well(chat, name = 'the turn ends without an error') {
    return this.check(name, chat.status === 'ready' && !chat.error, `status ${chat.status}, ${chat.error?.message ?? 'no error'}`);
  }

  async run(testCase) {
    const began = Date.now();
    try {
      await Promise.race([testCase.run(this), tooLong(testCase.within ?? 120)]);
    } catch (e) {
      if (!(e instanceof Enough))
        this.failures.push({ check: 'runs to its end', detail: e.stack?.split('\n').slice(0, 3).join(' ') ?? String(e) });
    } finally {
      for (const chat of this.#opened) await Promise.race([chat.close(), tooLong(10)]).catch(() => {});
      await this.#own?.stop();
    }
    this.ms = Date.now() - began;
    return this;
  }
}
