/**
 * `ctx.callTool`: a tool that calls another one through the runtime, past every gate that a call of the model passes.
 */

import { describe, optionInvalid } from "../options.js";
import { checkSignal } from "../run-options.js";
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
export function callTool(call, toolOrId, args, options) {
  try {
    return send(call, toolOrId, args, options ?? {});
  } catch (error) {
    return rejected(error);
  }
}

/**
 * @param {HostCall} call
 * @param {any} toolOrId
 * @param {unknown} args
 * @param {{ signal?: AbortSignal }} options
 */
function send(call, toolOrId, args, options) {
  const { host } = call;
  if (call.over) return rejected(call.over);
  const where = `tool '${call.tool.id}': ctx.callTool`;
  const name = typeof toolOrId === "string" ? toolOrId : toolOrId?.id;
  if (typeof name !== "string") return rejected(optionInvalid(where, "a tool or a tool's id", toolOrId));
  const signal = checkSignal(options.signal, where);
  const { number, promise } = host.tickets.issue(() => /** @type {KeelError} */ (call.over));
  const abandoned = signal?.aborted === true;
  if (abandoned) host.tickets.blame(number, signal.reason);
  const unlisted = typeof toolOrId !== "string" && !isListed(call, toolOrId);
  const fields = JSON.stringify({ id: call.id, ticket: number, tool: name, unlisted, abandoned });
  host.inputText("callTool", `${fields.slice(0, -1)},${argsFields(args)}}`);
  if (signal && !abandoned) abandonOn(call, signal, number, promise);
  return promise;
}

/**
 * A tool object stands for itself: it has to be that very definition among the agent's tools (D-21).
 *
 * @param {HostCall} call
 * @param {any} tool
 */
function isListed(call, tool) {
  return call.turn.agent.tools.some(({ definition }) => definition === tool);
}

/**
 * The arguments as JSON text, which is also how they are copied; nothing given is an empty object.
 *
 * @param {unknown} args
 */
function argsFields(args) {
  if (args === undefined) return '"args":{},"broken":null';
  try {
    const text = JSON.stringify(args);
    if (text !== undefined) return `"args":${text},"broken":null`;
    return brokenFields(`expected a JSON value, found ${describe(args)}`);
  } catch (error) {
    // The only thing that overflows here is the depth of the value.
    if (error instanceof RangeError) return '"args":null,"broken":null,"tooDeep":true';
    return brokenFields(
      `expected a JSON value, found ${describe(args)}: ${error instanceof Error ? error.message : describe(error)}`,
    );
  }
}

/** @param {string} fault */
function brokenFields(fault) {
  return `"args":null,"broken":${JSON.stringify(fault)}`;
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

/** @param {unknown} reason */
function rejected(reason) {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}
