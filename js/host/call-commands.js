/**
 * Commands that check and run calls of tools. A body is called from here alone: whatever it does (a throw, a value that is
 * no promise, a promise that never settles) ends in one answer or in none.
 */

import { expect, scopeOf } from "./answering.js";
import { checkArguments } from "./check-arguments.js";
import { HostCall } from "./host-call.js";
import { tellError } from "./hook-commands.js";
import { answerOf, resultText, thrownAnswer } from "./tool-answer.js";
import { ToolContext } from "./tool-context.js";
import { validate } from "./validate.js";

/** @import { Host } from "../host.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const callCommands = {
  prepare(host, [, id, key, ticket, toolIndex, args, begun]) {
    const turn = host.turn(key);
    expect(host, id, turn);
    if (begun !== null) return answerWith(host, id, turn.take(begun));
    const tool = turn.agent.tools[toolIndex].definition;
    const scope = scopeOf(host, turn, ticket);
    answerWith(host, id, scope.runInAsyncScope(checkArguments, undefined, turn, tool, args));
  },

  preparePart(host, [, id, key, part, value]) {
    const turn = host.turn(key);
    const { schema } = turn.agent.emits[part].definition;
    expect(host, id, turn);
    const accept = (/** @type {unknown} */ checked) => JSON.stringify({ ok: { value: checked ?? null } });
    answerWith(host, id, turn.scope.runInAsyncScope(validate, undefined, schema, value, accept));
  },

  call(host, [, id, key, ticket, toolIndex, callId, args, kept, keep]) {
    const turn = host.turn(key);
    const tool = turn.agent.tools[toolIndex].definition;
    const effect = expect(host, id, turn);
    const call = new HostCall(host, turn, effect, { id, ticket, tool, callId });
    const input = kept === null ? args : keep ? turn.kept.get(kept) : turn.take(kept);
    scopeOf(host, turn, ticket).runInAsyncScope(runTool, undefined, host, call, input);
  },

  resolve(host, [, ticket, result, error, thrownBy]) {
    host.tickets.settle(ticket, result, error, host.raised.take(thrownBy));
  },
};

/**
 * @param {Host} host
 * @param {number} id
 * @param {string | Promise<string>} answer
 */
function answerWith(host, id, answer) {
  if (typeof answer === "string") return host.answer(id, answer);
  answer.then((text) => host.answer(id, text));
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} input
 */
function runTool(host, call, input) {
  const context = new ToolContext(call);
  host.samples.context = context;
  let returned;
  try {
    returned = call.tool.execute(input, context);
    if (typeof returned?.then !== "function") return settle(host, call, returned);
  } catch (error) {
    return settleThrown(host, call, error);
  }
  awaitTool(host, call, returned);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {PromiseLike<unknown>} promise
 */
async function awaitTool(host, call, promise) {
  let returned;
  try {
    returned = await promise;
  } catch (error) {
    return settleThrown(host, call, error);
  }
  settle(host, call, returned);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} returned
 */
function settle(host, call, returned) {
  let answer;
  try {
    answer = answerOf(call.tool, returned);
  } catch (error) {
    return settleThrown(host, call, error);
  }
  call.settle();
  host.tickets.keep(call.ticket, answer);
  host.answer(call.id, resultText(answer));
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} error
 */
function settleThrown(host, call, error) {
  call.settle();
  if (!call.isNested) tellError(call.turn, call.effect, error);
  if (host.effects.has(call.id) && (call.isNested || call.turn.wraps)) host.raised.keep(call.turn, call.id, error);
  host.answer(call.id, thrownAnswer(error));
}
