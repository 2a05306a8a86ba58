/**
 * One root turn as its caller sees it: the promise of its result, the signal that may stop it, and the async context in
 * which its callbacks run (NT-35).
 */

import { AsyncResource } from "node:async_hooks";

import { watchSignal } from "./stop-signal.js";

export class Run {
  /** @type {Promise<any>} */
  result;

  /** What was thrown by a model, by the turn that failed of it: for the result's `cause`, never for a record. */
  modelErrors = new Map();

  /** @type {{ turnId: string, reason: unknown }[]} the turns that were stopped, with the reasons as they were given */
  #stops = [];

  /** @type {(result: any) => void} */
  #resolve = () => {};
  /** @type {(error: unknown) => void} */
  #reject = () => {};
  // AsyncLocalStorage.snapshot() does the same for ten times the price.
  /** The async context of whoever started this turn. */
  scope = new AsyncResource("keel-native.run");
  #unwatch = () => {};

  /**
   * @param {object} given
   * @param {string} given.turnId
   * @param {import("./program.js").Program} given.program
   * @param {any} given.identity
   * @param {any} given.ambient
   * @param {readonly any[]} given.middleware
   * @param {any} given.input
   * @param {readonly any[]} given.messages with which it begins, frozen
   * @param {((event: any) => void) | undefined} given.onEvent
   */
  constructor({ turnId, program, identity, ambient, middleware, input, messages, onEvent }) {
    this.input = input;
    this.messages = messages;
    this.turnId = turnId;
    this.program = program;
    this.identity = identity;
    this.ambient = ambient;
    this.middleware = middleware;
    this.onEvent = onEvent;
    this.result = this.#open();
  }

  /**
   * A suspended run goes on, towards a result of its own.
   *
   * @param {{ ambient: any, onEvent: ((event: any) => void) | undefined }} given
   */
  reopen({ ambient, onEvent }) {
    if (ambient !== undefined) this.ambient = ambient;
    this.onEvent = onEvent;
    this.result = this.#open();
  }

  #open() {
    const { promise, resolve, reject } = withResolvers();
    this.#resolve = resolve;
    this.#reject = reject;
    // Nobody has to look at the result.
    promise.catch(() => {});
    return promise;
  }

  /**
   * @param {string} turnId
   * @param {unknown} reason
   */
  noteStop(turnId, reason) {
    if (!this.stopOf(turnId)) this.#stops.push({ turnId, reason });
  }

  /**
   * The stop that reaches a turn: the first of its own and those of the turns above it, whose ids its own begins with.
   *
   * @param {string} turnId
   */
  stopOf(turnId) {
    return this.#stops.find((stop) => turnId === stop.turnId || turnId.startsWith(`${stop.turnId}.`));
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
