/**
 * One body that runs: what its context refers to, its signal, and whether it may still be used.
 */

import { KeelError } from "../error.js";
import { levelOf, parentOf } from "./call-view.js";
import { EffectSignal } from "./effect-signal.js";

/** @import { HostTurn } from "./host-turn.js" */

export class HostCall extends EffectSignal {
  /** @type {{ code: string, message: string } | undefined} why the call is over */
  #over;

  /** @type {string | undefined} */
  #callId;

  /**
   * @param {HostTurn} turn
   * @param {number} id of the kernel's `call`
   * @param {number | null} ticket
   * @param {any} tool
   * @param {number} position among the calls of the reply; negative: among the nested calls of its caller
   * @param {string | undefined} callId where it is not the one that the position tells
   */
  constructor(turn, id, ticket, tool, position, callId) {
    super(id, turn);
    this.ticket = ticket;
    this.tool = tool;
    this.position = position;
    this.issued = position < 0 ? undefined : turn.issued[position];
    /** @type {HostCall | undefined} */
    this.caller = position < 0 && ticket !== null ? turn.run.tickets.get(ticket)?.caller : undefined;
    this.#callId = callId;
    this.#over = undefined;
  }

  /** @returns {string} */
  get callId() {
    return (this.#callId ??=
      this.issued === undefined ? `${this.caller?.callId}/${-this.position}` : this.issued.part.toolCallId);
  }

  get parentCallId() {
    return parentOf(this.callId);
  }

  get isNested() {
    return this.position < 0;
  }

  get level() {
    return levelOf(this.callId);
  }

  /** The body has settled. */
  settle() {
    this.#over ??= { code: "TOOL_FAILED", message: "" };
  }

  /** @returns {KeelError | undefined} why the context can no longer be used */
  get over() {
    if (this.#over === undefined) return undefined;
    const { code, message } = this.#over;
    return new KeelError(code, `tool call '${this.callId}' of '${this.tool.id}' already settled${message}`);
  }

  /**
   * The call was cut off; its context answers with the reason from here on (D-12).
   *
   * @override
   */
  onCancel = HostCall.#cutOff;

  /**
   * @this {HostCall}
   * @param {{ code: string, message: string }} cut
   */
  static #cutOff(cut) {
    this.#over ??= { code: cut.code, message: `: ${cut.message}` };
  }
}
