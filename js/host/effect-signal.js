/**
 * The abort signal of one command. Most models and tools never read theirs, and an AbortController costs as much as a
 * crossing into the kernel, so it is made when somebody first asks for it.
 */

import { KeelError } from "../error.js";

export class EffectSignal {
  /** @type {import("./host-call.js").HostCall | undefined} the call whose body runs on it */
  call;

  #run;
  /** @type {AbortController | undefined} */
  #controller;
  /** @type {{ reason: unknown } | undefined} */
  #aborted;

  /** @param {import("./run.js").Run} run */
  constructor(run) {
    this.#run = run;
  }

  /** @returns {AbortSignal} */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /**
   * Aborts it: with the reason that a stop was given, or with an error that says what cut the work off.
   *
   * @param {string} code
   * @param {string} message
   */
  cancel(code, message) {
    const { stopped } = this.#run;
    const reason = code === "CANCELLED" && stopped ? stopped.reason : new KeelError(code, message);
    this.call?.cutOff({ code, message });
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}
