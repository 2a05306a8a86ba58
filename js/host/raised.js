/**
 * What user code threw whose caller is a program: that caller gets the very object as its error's cause, nobody else does
 * (D-11). Kept until the kernel says whose cause it is, and no longer than the turn.
 */

import { KeelError } from "../error.js";

/** @import { HostTurn } from "./host-turn.js" */

export class Raised {
  /** @type {Map<number, { turn: HostTurn, error: unknown }>} by the command that ran the code */
  #errors = new Map();

  /**
   * A failure that a tool reports itself, or a refusal that it forwards, is a result and no cause.
   *
   * @param {HostTurn} turn
   * @param {number} id
   * @param {any} error
   */
  keep(turn, id, error) {
    if (KeelError.isInstance(error) && error.code !== "TOOL_ERROR") return;
    this.#errors.set(id, { turn, error });
  }

  /** @param {number} id */
  take(id) {
    const kept = this.#errors.get(id);
    this.#errors.delete(id);
    return kept?.error;
  }

  /** @param {HostTurn} turn one that is over */
  forget(turn) {
    if (this.#errors.size === 0) return;
    for (const [id, kept] of this.#errors) if (kept.turn === turn) this.#errors.delete(id);
  }
}
