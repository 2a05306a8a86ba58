/**
 * The clock that budgets, deadlines and retries run on. The kernel never reads one: the host asks a `Clock` and tells
 * the kernel what time it is, so a test can put a virtual clock in its place (`keel-native/testing`).
 *
 * @typedef {object} Clock
 * @property {() => number} now monotonic milliseconds; budgets and timeouts are differences of it
 * @property {() => number} wallNow milliseconds since the epoch; what records and events show
 * @property {(atMs: number, callback: () => void) => () => void} setTimer calls back once at `atMs` (on the scale of
 *   `now`) or a little later, and keeps the process alive until then; returns the function that cancels it
 * @property {() => void} [noteInput] told of each input that arrives, so that a virtual clock knows when all is quiet
 */

/** @type {Clock} */
export const systemClock = Object.freeze({
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer(atMs, callback) {
    const delayMs = Math.ceil(atMs - performance.now());
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), TIMEOUT_MS_MAX));
    return () => clearTimeout(timer);
  },
});

// A longer delay overflows the runtime's timer and fires at once. Whoever armed the timer arms it anew when it fires early.
const TIMEOUT_MS_MAX = 2 ** 31 - 1;
