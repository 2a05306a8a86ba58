/**
 * Performs what the kernel commands, one tree at a time: the commands of a tree in their order, and trees in the order in
 * which they came to wait. A command that calls user code synchronously may bring further inputs, whose commands queue up
 * behind.
 */

import { perform, unwind } from "./perform.js";

/** @import { Run } from "./run.js" */

/** How long commands are performed before timers, signals and other work get their turn (D-36). */
const SLICE_MS = 10;

export class Performer {
  /** When the newest input came, in real time: what is performed next follows from it. */
  arrivedAt = 0;
  /** @type {Run | undefined} */
  #current;
  /** @type {Set<Run>} others that have commands */
  #waiting = new Set();
  #yielding = false;
  #sliceBegan = 0;

  /**
   * Performs what was commanded of a run, at once or when its turn comes.
   *
   * @param {Run} run
   */
  perform(run) {
    if (this.#current === run) return;
    if (this.#current !== undefined || this.#yielding) {
      this.#waiting.add(run);
      return;
    }
    this.#performRun(run);
    if (this.#waiting.size > 0) this.#performWaiting();
  }

  #performWaiting() {
    // A set that is walked gives those that come to it meanwhile, too.
    for (const run of this.#waiting) {
      if (this.#yielding) return;
      this.#waiting.delete(run);
      this.arrivedAt = performance.now();
      this.#performRun(run);
    }
  }

  /** @param {Run} run */
  #performRun(run) {
    const { commands, host } = run;
    this.#current = run;
    while (!commands.isEmpty) {
      if (this.#sliceIsOver()) {
        this.#current = undefined;
        this.#waiting.add(run);
        return;
      }
      const { rows, next } = commands;
      const head = rows[next];
      commands.next = next + (head >> 8);
      try {
        (run.fault === undefined ? perform : unwind)[head & 255](run, rows, next);
      } catch (error) {
        if (run.fault === undefined) host.fault(run, error);
        else host.giveUp(run, error);
      }
    }
    this.#current = undefined;
    commands.clear();
    host.drained(run);
  }

  /** Instant models run in microtasks alone; without a pause no timer, signal or other work would ever get its turn. */
  #sliceIsOver() {
    const now = this.arrivedAt;
    if (this.#sliceBegan === 0) {
      this.#sliceBegan = now;
      setImmediate(() => {
        this.#sliceBegan = 0;
        this.#yielding = false;
        this.#performWaiting();
      });
      return false;
    }
    this.#yielding = now - this.#sliceBegan > SLICE_MS;
    return this.#yielding;
  }
}
