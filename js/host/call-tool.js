/**
 * `ctx.callTool`: a tool that calls another one through the runtime, past every gate that a call of the model passes.
 */

import { describe, optionInvalid } from "../definitions/options.js";
import { checkSignal } from "../running/run-options.js";
import { checkAhead, checkText } from "./check-arguments.js";
import { watchSignal } from "./stop-signal.js";

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
  const { turn } = call;
  const { host, tickets } = turn.run;
  if (call.over) return rejected(call.over);
  const where = `tool '${call.tool.id}': ctx.callTool`;
  const name = typeof toolOrId === "string" ? toolOrId : toolOrId?.id;
  if (typeof name !== "string") return rejected(optionInvalid(where, "a tool or a tool's id", toolOrId));
  const signal = checkSignal(options.signal, where);
  const unlisted = typeof toolOrId !== "string" && !isListed(call, toolOrId);
  const ticket = tickets.issue(call);
  const { number, promise } = ticket;
  const { text, broken = null, tooDeep = false } = jsonOf(args === undefined ? {} : args);
  ticket.toolId = name;
  ticket.args = text;
  const isWanted = text !== undefined && !unlisted && !signal?.aborted;
  const check = isWanted ? checkAhead(turn, name, () => JSON.parse(text)) : undefined;
  // Writing and checking the arguments runs code of the user's, which may have ended the call, or aborted this one.
  if (call.over) {
    tickets.abandon([ticket], call.over);
    return promise;
  }
  const abandoned = signal?.aborted === true;
  if (abandoned) tickets.blame(ticket, signal.reason);
  const tool = turn.agent.toolsById.get(name);
  if (text !== undefined && tool !== undefined && !unlisted && !abandoned && typeof check !== "string") {
    host.callTool(call, number, tool.index, text, check);
  } else {
    const known = typeof check === "object" ? checkText(check) : (check ?? null);
    const fields =
      text === undefined ? `null,null,${JSON.stringify(broken)},${tooDeep}` : `${text},${known},null,false`;
    host.letter(call, "callTool", `[${number},${JSON.stringify(name)},${fields},${unlisted},${abandoned}]`);
  }
  if (signal && !abandoned) abandonOn(call, signal, ticket);
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
 * @param {unknown} args
 * @returns {{ text?: string, broken?: string, tooDeep?: boolean }} the JSON text, or why there is none
 */
function jsonOf(args) {
  try {
    const text = JSON.stringify(args);
    return text === undefined ? { broken: `expected a JSON value, found ${describe(args)}` } : { text };
  } catch (error) {
    // Depth overflows the stack; length overflows a string.
    if (error instanceof RangeError && /call stack/i.test(error.message)) return { tooDeep: true };
    const fault = error instanceof Error ? error.message : describe(error);
    return { broken: `expected a JSON value, found ${describe(args)}: ${fault}` };
  }
}

/**
 * @param {HostCall} call
 * @param {AbortSignal} signal
 * @param {ReturnType<import("./tickets.js").Tickets["issue"]>} ticket
 */
function abandonOn(call, signal, ticket) {
  const abandon = () => {
    if (!call.isOpen) return;
    const { host, tickets } = call.turn.run;
    tickets.blame(ticket, signal.reason);
    host.letter(call, "abandon", `{"ticket":${ticket.number}}`);
  };
  // A body that began at once may have aborted it.
  if (signal.aborted) return abandon();
  const forget = watchSignal(signal, abandon);
  ticket.promise.then(forget, forget);
}

/** @param {unknown} reason */
function rejected(reason) {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}
