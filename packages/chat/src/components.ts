// The components that show one conversation: what they are told, and what they are asked.
import type { UIMessage } from 'ai';
import type { Callbacks, Component } from './options.js';

export class Components<M extends UIMessage> {
  #all = new Set<Component<M>>();

  /** Tells and asks a component, until the result is called. */
  attach(component: Component<M>): () => void {
    this.#all.add(component);
    return () => { this.#all.delete(component); };
  }

  /** Tells each component, also if one of them throws, which throws then. */
  tell<R>(run: (callbacks: Callbacks<M>) => R): R[] {
    const results: R[] = [], errors: unknown[] = [];
    for (const component of [...this.#all]) {
      try { results.push(run(component.current)); } catch (error) { errors.push(error); }
    }
    if (errors.length > 0) throw errors[0];
    return results;
  }

  /** What the first component says that says anything. */
  first<K extends keyof Callbacks<M>>(key: K): Callbacks<M>[K] | undefined {
    for (const { current } of this.#all) if (current[key] !== undefined) return current[key];
    return undefined;
  }

  /** Whether any component wants the messages to be sent. A release that does not wait for an answer must get it at once. */
  sends(now: { messages: M[] }): boolean | Promise<boolean> {
    const answers = this.tell(one => one.sendAutomaticallyWhen?.(now) ?? false);
    if (answers.every(answer => typeof answer === 'boolean')) return answers.includes(true);
    return Promise.all(answers).then(all => all.includes(true));
  }
}
