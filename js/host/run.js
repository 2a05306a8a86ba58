/**
 * One root turn as its caller sees it: the promise of its result, the signal that may stop it, and the async context in
 * which its callbacks run (NT-35).
 */

import { AsyncLocalStorage } from "node:async_hooks";

import { watchSignal } from "./stop-signal.js";

export class Run {
  /** @type {Promise<any>} */
  result;

  /** What was thrown by a model, by the turn that failed of it: for the result's `cause`, never for a record. */
  modelErrors = new Map();

  /** @type {{ reason: unknown } | undefined} the stop of the whole tree, with the reason as it was given */
  stopped;

  #resolve;
  #reject;
  #unwatch = () => {};

  /**
   * @param {object} given
   * @param {string} given.turnId
   * @param {import("./program.js").Program} given.program
   * @param {any} given.identity
   * @param {any} given.ambient
   * @param {((event: any) => void) | undefined} given.onEvent
   */
  constructor({ turnId, program, identity, ambient, onEvent }) {
    this.turnId = turnId;
    this.program = program;
    this.identity = identity;
    this.ambient = ambient;
    this.onEvent = onEvent;
    /** Runs a callback in the async context of whoever started this turn. */
    this.enter = AsyncLocalStorage.snapshot();
    const { promise, resolve, reject } = withResolvers();
    this.#resolve = resolve;
    this.#reject = reject;
    // Nobody has to look at the result.
    promise.catch(() => {});
    this.result = promise;
  }

  /**
   * @param {AbortSignal | undefined} signal
   * @param {(reason: unknown) => void} stop
   */
  watch(signal, stop) {
    if (signal) this.#unwatch = watchSignal(signal, () => stop(signal.reason));
  }

  /** @param {any} result */
  settle(result) {
    this.#unwatch();
    this.#resolve(result);
  }

  /** @param {unknown} error a fault of ours */
  fail(error) {
    this.#unwatch();
    this.#reject(error);
  }
}

// Promise.withResolvers is not in Node 20.
function withResolvers() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {(error: unknown) => void} */
  let reject = () => {};
  const promise = new Promise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
