/**
 * Keeps the process alive while a turn is live: whoever awaits a run at the top level may wait for nothing else that does,
 * and a virtual clock has no timer of the runtime's.
 */

/** As long as timers go; it never does anything. */
const INTERVAL_MS = 2 ** 30;

export class KeepAlive {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  start() {
    this.#timer ??= setInterval(() => {}, INTERVAL_MS);
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
