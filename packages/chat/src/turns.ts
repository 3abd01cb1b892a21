// What a tab knows of the turns of its session: the news that the screen may lack, and what its own streams have brought.
import type { TurnNews } from './events.js';

export class Turns {
  /** The newest news of each turn, until the screen shows it. */
  #news = new Map<string, TurnNews>();
  /** The turns that wait for a person, with their messages. */
  #paused = new Map<string, string>();
  /** The messages that a stream of this tab has brought as far as the turn has come: to its end, or to a request. */
  #brought = new Set<string>();
  /** The message whose stream broke off, until a stream comes to its end: its turn may run. '' if its id is not known. */
  cut: string | undefined;

  /** An event tells of a turn. */
  told(turn: TurnNews) {
    const paused = this.#paused.get(turn.turn),
      { message_id = '' } = turn;
    if (paused !== undefined) this.#brought.delete(paused); // somebody has answered: the turn is longer than what the stream brought
    if (turn.state === 'paused') this.#paused.set(turn.turn, message_id);
    else this.#paused.delete(turn.turn);
    this.#news.set(turn.turn, turn);
  }

  /** A stream of this tab is over, without an error. message: undefined if the stream was not read to its end. */
  over(message: string | undefined) {
    this.cut = undefined;
    if (message !== undefined) this.#brought.add(message);
  }

  /** A stream of this tab broke off. */
  broke(message: string | undefined) {
    this.cut = message ?? this.cut ?? '';
  }

  /**
   * The news that the screen may lack. That a page had the message is not enough: the page may be from before the turn ended or paused.
   * failed: the Chat shows an error, so what its streams have brought does not count.
   */
  missed(failed: boolean): TurnNews[] {
    for (const { turn, state, message_id = '' } of [...this.#news.values()]) {
      if (!failed && (state === 'ended' || state === 'paused') && this.#brought.has(message_id)) this.#news.delete(turn);
    }
    return [...this.#news.values()];
  }

  /** A page is shown that was read after this news. */
  shown(missed: readonly TurnNews[]) {
    for (const news of missed) if (this.#news.get(news.turn) === news) this.#news.delete(news.turn);
  }
}
