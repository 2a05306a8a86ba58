/**
 * Promises that wait for the kernel: a tool's `callTool()`, a wrap layer's `next()`. Each has a number, and remembers the
 * async context in which it was made.
 */

import { AsyncResource } from "node:async_hooks";

import { KeelError } from "../error.js";
import { toolResultOf } from "./tool-answer.js";

/** @import { ToolAnswer } from "./tool-answer.js" */

/**
 * @typedef {object} Ticket
 * @property {AsyncResource} scope
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {() => KeelError} over why nobody serves it, where its caller was cut off
 * @property {unknown} [cause] why its caller abandoned it
 * @property {ToolAnswer} [answer] what the body answered that ran for it
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

  /** @param {number | null} number */
  get(number) {
    return number === null ? undefined : this.#waiting.get(number);
  }

  /**
   * Remembers what a body answered for as long as somebody waits for it: the kernel does not send it back.
   *
   * @param {number | null} number
   * @param {ToolAnswer} answer
   */
  noteAnswer(number, answer) {
    const ticket = this.get(number);
    if (ticket) ticket.answer = answer;
  }

  /**
   * A result as hooks and callers see it: the kernel's, or, where it names the answer, what the body answered.
   *
   * @param {number | null} number
   * @param {any} result as the kernel sent it
   */
  resultOf(number, result) {
    return typeof result === "number" ? toolResultOf(/** @type {any} */ (this.get(number)).answer) : result;
  }

  /**
   * @param {number} number
   * @param {any} result as the kernel sent it, or null
   * @param {{ code: string, message: string } | null} error
   * @param {unknown} cause what the called code threw
   */
  settle(number, result, error, cause) {
    const ticket = this.#waiting.get(number);
    if (!ticket) return;
    const shown = result === null ? null : Object.freeze(this.resultOf(number, result));
    this.#waiting.delete(number);
    if (shown) ticket.resolve(shown);
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
