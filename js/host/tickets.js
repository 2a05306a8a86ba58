/**
 * Promises that wait for the kernel: a tool's `callTool()`, a wrap layer's `next()`. Each has a number, and remembers the
 * async context in which it was made.
 */

import { AsyncResource } from "node:async_hooks";

import { KeelError } from "../error.js";
import { OWN } from "./command-queue.js";
import { toolResultOf } from "./tool-answer.js";

/** @import { HostCall } from "./host-call.js" */
/** @import { ToolAnswer } from "./tool-answer.js" */

class Ticket {
  scope = new AsyncResource("keel-native.call");

  /** @type {(value: any) => void} */
  resolve = ignore;

  /** @type {(error: unknown) => void} */
  reject = ignore;

  /** @type {unknown} why its caller abandoned it */
  cause = undefined;

  /** @type {ToolAnswer | undefined} what the body answered that ran for it */
  answer = undefined;

  /** @type {string | undefined} the tool of a `callTool()` */
  toolId = undefined;

  /** @type {string | undefined} the arguments of a `callTool()`, as they were sent */
  args = undefined;

  /** @type {any} the call as hooks are shown it, frozen, once it is made */
  view = undefined;

  /**
   * @param {number} number
   * @param {HostCall | undefined} caller whose `callTool()` it is
   * @param {(() => KeelError) | undefined} over why nobody serves it, where its caller was cut off
   */
  constructor(number, caller, over) {
    this.number = number;
    this.caller = caller;
    this.over = over;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A caller may drop what it called.
    this.promise.catch(ignore);
  }
}

const ignore = () => {};

export class Tickets {
  /** @type {(Ticket | undefined)[]} those that wait, by number */
  #waiting = [];
  /** @type {number[]} numbers that are free again */
  #free = [];

  /**
   * @param {HostCall | undefined} caller
   * @param {() => KeelError} [over]
   */
  issue(caller, over) {
    const number = this.#free.pop() ?? this.#waiting.length;
    const ticket = new Ticket(number, caller, over);
    this.#waiting[number] = ticket;
    return ticket;
  }

  /**
   * The promise is about to be rejected, for this reason.
   *
   * @param {Ticket} ticket
   * @param {unknown} cause
   */
  blame(ticket, cause) {
    ticket.cause = cause;
  }

  /** @param {number} number */
  get(number) {
    return this.#waiting[number];
  }

  /**
   * Remembers what a body answered for as long as somebody waits for it: the kernel does not send it back.
   *
   * @param {number} number
   * @param {ToolAnswer} answer
   */
  noteAnswer(number, answer) {
    const ticket = this.get(number);
    if (ticket) ticket.answer = answer;
  }

  /**
   * A result as hooks and callers see it: the kernel's, or, where it names the answer, what the body answered.
   *
   * @param {number} number
   * @param {any} result as the kernel sent it
   */
  resultOf(number, result) {
    return result === OWN ? toolResultOf(/** @type {any} */ (this.get(number)).answer) : result;
  }

  /**
   * @param {number} number
   * @param {any} result as the kernel sent it, or null
   * @param {{ code: string, message: string } | null} error
   * @param {unknown} cause what the called code threw
   */
  settle(number, result, error, cause) {
    const ticket = this.#waiting[number];
    if (!ticket) return;
    const shown = result === null ? null : Object.freeze(this.resultOf(number, result));
    this.#forget(ticket);
    if (shown) ticket.resolve(shown);
    else if (error)
      ticket.reject(new KeelError(error.code, error.message, { cause: cause === undefined ? ticket.cause : cause }));
    else ticket.reject(ticket.over === undefined ? ticket.caller?.over : ticket.over());
  }

  /**
   * Rejects what will not be answered any more.
   *
   * @param {Iterable<Ticket>} tickets
   * @param {KeelError} error
   */
  abandon(tickets, error) {
    for (const ticket of tickets) {
      ticket.reject(error);
      this.#forget(ticket);
    }
  }

  /** Rejects whatever still waits: its callers are cut off, all of them. */
  cutOff() {
    for (const ticket of this.#waiting) if (ticket !== undefined) this.settle(ticket.number, null, null, undefined);
  }

  /** @param {Ticket} ticket */
  #forget(ticket) {
    if (this.#waiting[ticket.number] !== ticket) return;
    this.#waiting[ticket.number] = undefined;
    this.#free.push(ticket.number);
  }
}
