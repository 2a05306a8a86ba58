/**
 * What budgets, timeouts and timestamps run on. The kernel itself reads no clock.
 * `virtualClock()` of `keel-native/testing` makes one that only moves when told to.
 */
export interface Clock {
  /** Milliseconds on a clock that never goes back; for budgets and timeouts (D-5). */
  now(): number;
  /** Milliseconds since 1970; for timestamps. */
  wallNow(): number;
  /** Calls `callback` once, when `now()` has reached `atMs`; returns a function that takes it back. Keeps the process alive until then (D-36). */
  setTimer(atMs: number, callback: () => void): () => void;
  /** Told whenever an answer from outside arrives, so that a virtual clock knows when all is quiet. */
  noteInput?(): void;
}
