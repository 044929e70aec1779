/** Ends a run when it is interrupted or reaches its time limit. */

import { setMaxListeners } from 'node:events';

export class Deadline {
  readonly signal: AbortSignal;
  readonly boundMs: number;
  readonly #interruption: AbortSignal | undefined;
  readonly #late = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(interruption: AbortSignal | undefined, boundMs: number) {
    this.boundMs = boundMs;
    this.#interruption = interruption;
    this.#timer = setTimeout(() => this.#late.abort(), boundMs);
    this.#timer.unref();
    this.signal = AbortSignal.any([...(interruption === undefined ? [] : [interruption]), this.#late.signal]);
    setMaxListeners(0, this.signal);
  }

  get isInterrupted(): boolean {
    return this.#interruption?.aborted === true;
  }

  get isOver(): boolean {
    return this.#late.signal.aborted;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
