/**
 * One call whose body runs: what its context refers to, and whether it may still be used.
 */

import { KeelError } from "../error.js";

/** @import { Host } from "../host.js" */
/** @import { HostTurn } from "./host-turn.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

export class HostCall {
  /** @type {{ code: string, message: string } | undefined} why the call is over */
  #over;

  /**
   * @param {Host} host
   * @param {HostTurn} turn
   * @param {any} command the kernel's `call`
   * @param {EffectSignal} effect
   */
  constructor(host, turn, command, effect) {
    this.host = host;
    this.turn = turn;
    this.key = command.key;
    this.callId = command.callId;
    this.tool = turn.agent.tools[command.tool].definition;
    this.effect = effect;
  }

  /** The body has settled. */
  settle() {
    this.#over ??= { code: "TOOL_FAILED", message: `tool call '${this.callId}' of '${this.tool.id}' already settled` };
  }

  /**
   * The call was cut off; its context answers with the reason from here on (D-12).
   *
   * @param {{ code: string, message: string }} cut
   */
  cutOff({ code, message }) {
    this.#over ??= { code, message: `tool call '${this.callId}' of '${this.tool.id}' was cut off: ${message}` };
  }

  /** @returns {KeelError | undefined} why the context can no longer be used */
  get over() {
    return this.#over && new KeelError(this.#over.code, this.#over.message);
  }
}
