/**
 * A clock that stands still until a test moves it, so that budgets, timeouts and retries are tested without waiting.
 */

import { setImmediate } from "node:timers";

import { checkOptions, describe, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";

/**
 * @param {{ wallNow?: number }} [options] the wall time at which it starts; default 2026-01-01T00:00:00Z
 */
export function virtualClock(options = {}) {
  checkOptions(options, ["wallNow"], "virtualClock");
  const startedAt = options.wallNow ?? Date.UTC(2026, 0, 1);
  if (!Number.isFinite(startedAt)) throw optionInvalid("virtualClock: wallNow", "a number of milliseconds", startedAt);
  let nowMs = 0;
  let activity = 0;
  let tail = Promise.resolve();
  /** @type {Set<{ atMs: number, callback: () => void }>} */
  const timers = new Set();

  return {
    now: () => nowMs,
    wallNow: () => startedAt + nowMs,

    /**
     * @param {number} atMs
     * @param {() => void} callback
     */
    setTimer(atMs, callback) {
      const timer = { atMs, callback };
      timers.add(timer);
      activity += 1;
      return () => {
        timers.delete(timer);
      };
    },

    /** The host tells of each input it takes, so that `advance` sees that something is still going on. */
    noteInput() {
      activity += 1;
    },

    /**
     * @param {number} ms
     * @returns {Promise<void>}
     */
    advance(ms) {
      if (!(Number.isFinite(ms) && ms >= 0)) {
        throw new KeelError(
          "OPTION_INVALID",
          `virtualClock: expected advance(ms) with a number of milliseconds, found ${describe(ms)}`,
        );
      }
      const moved = tail.then(() => advanceTo(nowMs + ms));
      tail = moved.catch(() => {});
      return moved;
    },
  };

  /** @param {number} targetMs */
  async function advanceTo(targetMs) {
    for (;;) {
      await settle();
      const timer = earliest();
      if (!timer || timer.atMs > targetMs) break;
      timers.delete(timer);
      nowMs = Math.max(nowMs, timer.atMs);
      timer.callback();
    }
    nowMs = Math.max(nowMs, targetMs);
  }

  async function settle() {
    let quietRounds = 0;
    for (let round = 0; quietRounds < QUIET_ROUNDS; round += 1) {
      if (round === ROUNDS_MAX) {
        throw new Error(
          `virtualClock: still busy after ${ROUNDS_MAX} rounds at ${nowMs} ms: something runs in circles without letting time pass`,
        );
      }
      const before = activity;
      await new Promise((resolve) => setImmediate(resolve));
      quietRounds = activity === before ? quietRounds + 1 : 0;
    }
  }

  function earliest() {
    /** @type {{ atMs: number, callback: () => void } | undefined} */
    let found;
    for (const timer of timers) {
      if (!found || timer.atMs < found.atMs) found = timer;
    }
    return found;
  }
}

const QUIET_ROUNDS = 2;
const ROUNDS_MAX = 100_000;
