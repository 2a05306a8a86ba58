/**
 * Promises that wait for the kernel: a tool's `callTool()`, a wrap layer's `next()`. Each has a number, and remembers the
 * async context in which it was made.
 */

import { AsyncResource } from "node:async_hooks";

import { KeelError } from "../error.js";

/**
 * @typedef {object} Ticket
 * @property {AsyncResource} scope
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {() => KeelError} over why nobody serves it, where its caller was cut off
 * @property {unknown} [cause] why its caller abandoned it
 */

export class Tickets {
  /** @type {Map<number, Ticket>} */
  #waiting = new Map();
  #next = 1;

  /**
   * @param {() => KeelError} over
   * @returns {{ number: number, promise: Promise<any> }}
   */
  issue(over) {
    const number = this.#next;
    this.#next += 1;
    const promise = new Promise((resolve, reject) => {
      this.#waiting.set(number, { scope: new AsyncResource("keel-native.call"), resolve, reject, over });
    });
    // A caller may drop what it called.
    promise.catch(() => {});
    return { number, promise };
  }

  /**
   * The promise is about to be rejected, for this reason.
   *
   * @param {number} number
   * @param {unknown} cause
   */
  blame(number, cause) {
    const ticket = this.#waiting.get(number);
    if (ticket) ticket.cause = cause;
  }

  /** @param {number} number */
  get(number) {
    return this.#waiting.get(number);
  }

  /**
   * @param {any} answer the kernel's `resolve`
   * @param {unknown} cause what the called code threw
   */
  settle({ ticket: number, result, error }, cause) {
    const ticket = this.#waiting.get(number);
    if (!ticket) return;
    this.#waiting.delete(number);
    if (result) ticket.resolve(Object.freeze(result));
    else if (error)
      ticket.reject(new KeelError(error.code, error.message, { cause: cause === undefined ? ticket.cause : cause }));
    else ticket.reject(ticket.over());
  }

  /**
   * Rejects what will not be answered any more.
   *
   * @param {Iterable<number>} numbers
   * @param {KeelError} error
   */
  abandon(numbers, error) {
    for (const number of numbers) {
      this.#waiting.get(number)?.reject(error);
      this.#waiting.delete(number);
    }
  }
}
