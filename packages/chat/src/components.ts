// The components that show one conversation: what they are told, and what they are asked.
import type { UIMessage } from 'ai';
import type { Callbacks, Component } from './options.js';

export class Components<M extends UIMessage> {
  #all = new Set<Component<M>>();
  #gone: Component<M> | undefined;

  /** Tells and asks a component, until the result is called. */
  attach(component: Component<M>): () => void {
    this.#all.add(component);
    return () => {
      if (this.#all.delete(component)) this.#gone = component;
    };
  }

  /** Tells each component, also if one of them throws, which throws then. */
  tell<R>(run: (callbacks: Callbacks<M>) => R): R[] {
    const results: R[] = [],
      errors: unknown[] = [];
    for (const component of [...this.#all]) {
      try {
        results.push(run(component.current));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return results;
  }

  /** Whether any component has this callback. */
  has(key: keyof Callbacks<M>): boolean {
    return [...this.#all].some(({ current }) => current[key] !== undefined);
  }

  /** How a new session begins, as the first component says. A prompt can be on its way when its component goes: then that one says so. */
  first<K extends 'onBegin' | 'agent'>(key: K): Callbacks<M>[K] | undefined {
    const all = this.#all.size === 0 && this.#gone ? [this.#gone] : [...this.#all];
    return all.find(({ current }) => current[key] !== undefined)?.current[key];
  }

  /** Whether any component wants the messages to be sent. A release that does not wait for an answer must get it at once. */
  sends(now: { messages: M[] }): boolean | Promise<boolean> {
    const answers = this.tell(one => one.sendAutomaticallyWhen?.(now) ?? false);
    if (answers.every(answer => typeof answer === 'boolean')) return answers.includes(true);
    return Promise.all(answers).then(all => all.includes(true));
  }
}
