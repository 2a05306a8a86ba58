/**
 * The abort signal of one command. Most models and tools never read theirs, and an AbortController costs as much as a
 * crossing into the kernel, so it is made when somebody first asks for it.
 */

import { KeelError } from "../error.js";

export class EffectSignal {
  /**
   * Told when nobody waits any longer.
   *
   * @type {((cut: { code: string, message: string }) => void) | undefined}
   */
  onCancel;

  /** The turn that it works for. */
  turn;
  /** @type {AbortController | undefined} */
  #controller;
  /** @type {{ reason: unknown } | undefined} */
  #aborted;

  /**
   * @param {number} id of the command
   * @param {import("./host-turn.js").HostTurn} turn
   */
  constructor(id, turn) {
    this.id = id;
    this.turn = turn;
    /** Somebody waits for the answer. */
    this.isOpen = true;
  }

  /** @returns {AbortSignal} */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Nobody waits for the answer any longer. */
  get isCancelled() {
    return this.#aborted !== undefined;
  }

  /**
   * Aborts it: with the reason that a stop was given, or with an error that says what cut the work off.
   *
   * @param {string} code
   * @param {string} message
   */
  cancel(code, message) {
    const { run, turnId } = this.turn;
    const stopped = run.stopOf(turnId);
    const reason = code === "CANCELLED" && stopped ? stopped.reason : new KeelError(code, message);
    this.isOpen = false;
    this.onCancel?.({ code, message });
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}
