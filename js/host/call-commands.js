/**
 * Commands that check and run calls of tools. A body is called from here alone: whatever it does (a throw, a value that is
 * no promise, a promise that never settles) ends in one answer or in none.
 */

import { expect, scopeOf } from "./answering.js";
import { checkArguments, tellVerdict } from "./check-arguments.js";
import { HostCall } from "./host-call.js";
import { tellError } from "./hook-commands.js";
import { resultText, thrownAnswer, toolAnswer } from "./tool-answer.js";
import { ToolContext } from "./tool-context.js";
import { validate } from "./validate.js";

/** @import { Host } from "../host.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const callCommands = {
  prepare(host, [, id, turnKey, ticket, toolIndex, args, begun]) {
    const turn = host.turn(turnKey);
    expect(host, id, turn);
    const tool = turn.agent.tools[toolIndex].definition;
    const verdict =
      begun === null
        ? scopeOf(host, turn, ticket).runInAsyncScope(checkArguments, undefined, tool, args)
        : turn.take(begun);
    // Nobody may wait for it any longer: nothing is kept then.
    const tell = (/** @type {any} */ given) => host.effects.has(id) && host.answer(id, tellVerdict(turn, given));
    if (verdict instanceof Promise) verdict.then(tell);
    else tell(verdict);
  },

  preparePart(host, [, id, turnKey, partIndex, value]) {
    const turn = host.turn(turnKey);
    const { schema } = turn.agent.emits[partIndex].definition;
    expect(host, id, turn);
    const accept = (/** @type {unknown} */ checked) => JSON.stringify({ ok: { value: checked ?? null } });
    /** @type {any} */
    const text = turn.scope.runInAsyncScope(validate, undefined, schema, value, accept);
    if (text instanceof Promise) text.then((answer) => host.answer(id, answer));
    else host.answer(id, text);
  },

  call(host, [, id, turnKey, ticket, toolIndex, callId, args, kept, mayRunAgain]) {
    const turn = host.turn(turnKey);
    const tool = turn.agent.tools[toolIndex].definition;
    const effect = expect(host, id, turn);
    const call = new HostCall(host, turn, effect, { id, ticket, tool, callId });
    const input = kept === null ? args : mayRunAgain ? turn.kept(kept) : turn.take(kept);
    scopeOf(host, turn, ticket).runInAsyncScope(runTool, undefined, host, call, input);
  },

  resolve(host, [, ticket, result, error, thrownBy]) {
    host.tickets.settle(ticket, result, error, host.raised.take(thrownBy));
  },
};

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
    answer = toolAnswer(call.tool, returned);
  } catch (error) {
    return settleThrown(host, call, error);
  }
  call.settle();
  host.tickets.noteAnswer(call.ticket, answer);
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
