/**
 * Commands that check and run calls of tools. A body is called from here alone: whatever it does (a throw, a value that is
 * no promise, a promise that never settles) ends in one answer or in none.
 */

import { expect, PLACE, scopeOf } from "./answering.js";
import { checkArguments, verdictText } from "./check-arguments.js";
import { HostCall } from "./host-call.js";
import { tellError } from "./hook-commands.js";
import { resultText, thrownAnswer, toolAnswer } from "./tool-answer.js";
import { ToolContext } from "./tool-context.js";
import { validate } from "./validate.js";

/** @import { Host } from "./host.js" */

/** @type {Record<string, (host: Host, command: any, at: any) => void>} */
export const callCommands = {
  prepare(host, [, id, turnKey, ticket, toolIndex, args, begun]) {
    const turn = host.turn(turnKey);
    const effect = expect(host, id, turn);
    const tool = turn.agent.tools[toolIndex].definition;
    const verdict =
      begun === null
        ? scopeOf(host, turn, ticket).runInAsyncScope(checkArguments, undefined, tool, args)
        : host.kept.take(begun);
    // Nobody may wait for it any longer: nothing is kept then.
    const tell = (/** @type {any} */ given) => effect.isOpen && host.answer(effect, verdictText(host, given));
    if (verdict instanceof Promise) verdict.then(tell);
    else tell(verdict);
  },

  preparePart(host, [, id, turnKey, partIndex, value]) {
    const turn = host.turn(turnKey);
    const { schema } = turn.agent.emits[partIndex].definition;
    const effect = expect(host, id, turn);
    const accept = (/** @type {unknown} */ checked) => JSON.stringify({ ok: { value: checked ?? null } });
    /** @type {any} */
    const text = turn.scope.runInAsyncScope(validate, undefined, schema, value, accept);
    if (text instanceof Promise) text.then((answer) => host.answer(effect, answer));
    else host.answer(effect, text);
  },

  call(host, /** @type {any} */ rows, /** @type {number} */ at) {
    const id = rows[at + 1];
    const turn = host.turn(rows[at + 2]);
    const ticket = rows[at + 3] < 0 ? null : rows[at + 3];
    const tool = turn.agent.tools[rows[at + 4]]?.definition;
    const position = rows[at + 5];
    const callId = host.text(rows[at + 6]);
    const kept = rows[at + 8];
    const call = new HostCall(host, turn, id, ticket, tool, position, callId);
    host.effects[id & PLACE] = call;
    const input = kept >= 0 ? (rows[at + 9] === 1 ? host.kept.get(kept) : host.kept.take(kept)) : argsOf(host, turn, position, rows[at + 7]);
    scopeOf(host, turn, ticket).runInAsyncScope(runTool, undefined, host, call, input);
  },

  resolve(host, /** @type {any} */ rows, /** @type {number} */ at) {
    const result = rows[at + 2] === -2 ? -2 : (host.text(rows[at + 2]) ?? null);
    const thrownBy = rows[at + 4] < 0 ? null : rows[at + 4];
    host.tickets.settle(rows[at + 1], result, host.text(rows[at + 3]) ?? null, host.raised.take(thrownBy));
  },
};

/**
 * The arguments of a body that nobody checked here.
 *
 * @param {Host} host
 * @param {any} turn
 * @param {number} position
 * @param {number} field
 */
function argsOf(host, turn, position, field) {
  return field === -2 ? JSON.parse(turn.issued[position].part.input) : (host.text(field) ?? null);
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
    answer = toolAnswer(call.tool, returned);
  } catch (error) {
    return settleThrown(host, call, error);
  }
  call.settle();
  host.tickets.noteAnswer(call.ticket, answer);
  if (call.issued !== undefined) call.issued.answer = answer;
  if (answer.plain) host.result(call, /** @type {string} */ (answer.value));
  else host.answer(call, resultText(answer));
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} error
 */
function settleThrown(host, call, error) {
  call.settle();
  if (!call.isNested) tellError(call.turn, call, error);
  if (call.isOpen && (call.isNested || call.turn.wraps)) host.raised.keep(call.turn, call.id, error);
  host.answer(call, thrownAnswer(error));
}
