/**
 * `ctx.callTool`: a tool that calls another one through the runtime, past every gate that a call of the model passes.
 */

import { describe, optionInvalid } from "../options.js";
import { watchSignal } from "./stop-signal.js";

/** @import { KeelError } from "../error.js" */
/** @import { HostCall } from "./host-call.js" */

/**
 * @param {HostCall} call the calling one
 * @param {any} toolOrId
 * @param {unknown} args
 * @param {{ signal?: AbortSignal }} [options]
 * @returns {Promise<any>} never left unhandled: a tool may drop it
 */
export function callTool(call, toolOrId, args, options = {}) {
  const { host } = call;
  if (call.over) return rejected(call.over);
  const where = `tool '${call.tool.id}': ctx.callTool`;
  const name = nameOf(call, toolOrId);
  if (name === undefined) return rejected(optionInvalid(where, "a tool or a tool's id", toolOrId));
  const signal = options?.signal;
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    return rejected(optionInvalid(`${where}: signal`, "an AbortSignal", signal));
  }
  const { number, promise } = host.tickets.issue(() => /** @type {KeelError} */ (call.over));
  const abandoned = signal?.aborted === true;
  if (abandoned) host.tickets.blame(number, signal.reason);
  host.input("callTool", { id: call.id, ticket: number, tool: name, ...argsBody(args), abandoned });
  if (signal && !abandoned) abandonOn(call, signal, number, promise);
  return promise;
}

/**
 * A tool object stands for itself: it has to be that very definition among the agent's tools (D-21).
 *
 * @param {HostCall} call
 * @param {any} toolOrId
 * @returns {string | undefined}
 */
function nameOf(call, toolOrId) {
  if (typeof toolOrId === "string") return toolOrId;
  if (typeof toolOrId?.id !== "string") return undefined;
  const own = call.turn.agent.tools.some(({ definition }) => definition === toolOrId);
  // A name that no tool can have: the kernel answers that there is no such tool.
  return own ? toolOrId.id : `${toolOrId.id} (another definition)`;
}

/**
 * The arguments as a copy in JSON; nothing given is an empty object.
 *
 * @param {unknown} args
 */
function argsBody(args) {
  if (args === undefined) return { args: {} };
  try {
    const text = JSON.stringify(args);
    if (text !== undefined) return { args: JSON.parse(text) };
    return { broken: `expected a JSON value, found ${describe(args)}` };
  } catch (error) {
    return {
      broken: `expected a JSON value, found ${describe(args)}: ${error instanceof Error ? error.message : describe(error)}`,
    };
  }
}

/**
 * @param {HostCall} call
 * @param {AbortSignal} signal
 * @param {number} ticket
 * @param {Promise<any>} promise
 */
function abandonOn(call, signal, ticket, promise) {
  const abandon = () => {
    call.host.tickets.blame(ticket, signal.reason);
    call.host.input("abandon", { id: call.id, ticket });
  };
  const forget = watchSignal(signal, abandon);
  promise.then(forget, forget);
}

/** @param {KeelError} over */
function rejected(over) {
  const promise = Promise.reject(over);
  promise.catch(() => {});
  return promise;
}
