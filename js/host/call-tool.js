/**
 * `ctx.callTool`: a tool that calls another one through the runtime, past every gate that a call of the model passes.
 */

import { describe, optionInvalid } from "../options.js";
import { checkSignal } from "../run-options.js";
import { checkAhead } from "./check-arguments.js";
import { watchSignal } from "./stop-signal.js";

/** @import { KeelError } from "../error.js" */
/** @import { HostCall } from "./host-call.js" */
/** @import { HostTurn } from "./host-turn.js" */

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
  const unlisted = typeof toolOrId !== "string" && !isListed(call, toolOrId);
  const { number, promise } = host.tickets.issue(() => /** @type {KeelError} */ (call.over));
  const fields = fieldsOf(call.turn, { name, args, isWanted: !unlisted && !signal?.aborted });
  // Writing and checking the arguments runs code of the user's, which may have aborted it.
  const abandoned = signal?.aborted === true;
  if (abandoned) host.tickets.blame(number, signal.reason);
  host.inputText("callTool", `[${call.id},${number},${JSON.stringify(name)},${fields},${unlisted},${abandoned}]`);
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
 * The fields of the kernel's `ToolRequest` about the arguments, as JSON text, which is also how arguments are copied.
 * Nothing given is an empty object.
 *
 * @param {HostTurn} turn
 * @param {{ name: string, args: unknown, isWanted: boolean }} request
 */
function fieldsOf(turn, { name, args, isWanted }) {
  const { text, broken = null, tooDeep = false } = jsonOf(args === undefined ? {} : args);
  if (text === undefined) return `null,null,${JSON.stringify(broken)},${tooDeep}`;
  const check = isWanted ? checkAhead(turn, name, text) : undefined;
  return `${text},${check ?? null},null,false`;
}

/**
 * @param {unknown} args
 * @returns {{ text?: string, broken?: string, tooDeep?: boolean }} the JSON text, or why there is none
 */
function jsonOf(args) {
  try {
    const text = JSON.stringify(args);
    return text === undefined ? { broken: `expected a JSON value, found ${describe(args)}` } : { text };
  } catch (error) {
    // The only thing that overflows here is the depth of the value.
    if (error instanceof RangeError) return { tooDeep: true };
    const fault = error instanceof Error ? error.message : describe(error);
    return { broken: `expected a JSON value, found ${describe(args)}: ${fault}` };
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
  // A body that began at once may have aborted it.
  if (signal.aborted) return abandon();
  const forget = watchSignal(signal, abandon);
  promise.then(forget, forget);
}

/** @param {unknown} reason */
function rejected(reason) {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}
