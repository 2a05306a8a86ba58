/**
 * One body that runs: what its context refers to, and whether it may still be used.
 */

import { KeelError } from "../error.js";
import { levelOf, parentOf } from "./call-view.js";

/** @import { Host } from "../host.js" */
/** @import { HostTurn } from "./host-turn.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

export class HostCall {
  /** @type {{ code: string, message: string } | undefined} why the call is over */
  #over;

  /**
   * @param {Host} host
   * @param {HostTurn} turn
   * @param {EffectSignal} effect
   * @param {object} fields of the kernel's `call`
   * @param {number} fields.id
   * @param {number | null} fields.ticket
   * @param {any} fields.tool
   * @param {string} fields.callId
   */
  constructor(host, turn, effect, { id, ticket, tool, callId }) {
    this.host = host;
    this.turn = turn;
    this.id = id;
    this.callId = callId;
    this.ticket = ticket;
    this.tool = tool;
    this.effect = effect;
    effect.onCancel = (cut) => this.#cutOff(cut);
  }

  get parentCallId() {
    return parentOf(this.callId);
  }

  get isNested() {
    return this.parentCallId !== undefined;
  }

  get level() {
    return levelOf(this.callId);
  }

  /** The body has settled. */
  settle() {
    this.#over ??= { code: "TOOL_FAILED", message: `tool call '${this.callId}' of '${this.tool.id}' already settled` };
  }

  /** @returns {KeelError | undefined} why the context can no longer be used */
  get over() {
    return this.#over && new KeelError(this.#over.code, this.#over.message);
  }

  /**
   * The call was cut off; its context answers with the reason from here on (D-12).
   *
   * @param {{ code: string, message: string }} cut
   */
  #cutOff({ code, message }) {
    const text = `tool call '${this.callId}' of '${this.tool.id}' already settled: ${message}`;
    this.#over ??= { code, message: text };
  }
}
