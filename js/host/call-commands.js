/**
 * Commands that check and run calls of tools. A body is called from here alone: whatever it does (a throw, a value that is
 * no promise, a promise that never settles) ends in one answer or in none.
 */

import { expect, scopeOf } from "./answering.js";
import { checkArguments, checkText, keep } from "./check-arguments.js";
import { OWN } from "./command-queue.js";
import { HostCall } from "./host-call.js";
import { tellError } from "./hook-commands.js";
import { resultText, thrownAnswer, toolAnswer } from "./tool-answer.js";
import { ToolContext } from "./tool-context.js";
import { validate } from "./validate.js";

/** @import { Run } from "./run.js" */

/** @type {Record<string, (run: Run, command: any, at: any) => void>} */
export const callCommands = {
  prepare(run, [, id, turnKey, ticket, toolIndex, args, begun]) {
    const turn = run.turn(turnKey);
    const effect = expect(id, turn);
    const tool = turn.agent.tools[toolIndex].definition;
    const verdict =
      begun === null
        ? scopeOf(turn, ticket).runInAsyncScope(checkArguments, undefined, tool, args)
        : run.kept.take(begun);
    const tell = (/** @type {any} */ given) => {
      // Nobody may wait for it any longer: nothing is kept then.
      if (!effect.isOpen) return;
      if (typeof given === "string") {
        run.host.answer(effect, given);
        return;
      }
      const check = keep(run, given);
      run.noteTold(id, [check]);
      run.host.answer(effect, checkText(check));
    };
    if (verdict instanceof Promise) verdict.then(tell);
    else tell(verdict);
  },

  preparePart(run, [, id, turnKey, partIndex, value]) {
    const turn = run.turn(turnKey);
    const { schema } = turn.agent.emits[partIndex].definition;
    const effect = expect(id, turn);
    const accept = (/** @type {unknown} */ checked) => JSON.stringify({ ok: { value: checked ?? null } });
    /** @type {any} */
    const text = turn.scope.runInAsyncScope(validate, undefined, schema, value, accept);
    if (text instanceof Promise) text.then((answer) => run.host.answer(effect, answer));
    else run.host.answer(effect, text);
  },

  call(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const turn = run.turn(rows[at + 2]);
    const ticket = rows[at + 3] < 0 ? null : rows[at + 3];
    const tool = turn.agent.tools[rows[at + 4]]?.definition;
    const call = new HostCall(turn, rows[at + 1], ticket, tool, rows[at + 5], run.commands.text(rows[at + 6]));
    run.expect(call);
    const kept = rows[at + 8];
    let input;
    if (kept < 0) input = argumentsOf(call, rows[at + 7]);
    else input = rows[at + 9] === 1 ? run.kept.get(kept) : run.kept.take(kept);
    scopeOf(turn, ticket).runInAsyncScope(runTool, undefined, call, input);
  },

  resolve(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const { commands } = run;
    const result = rows[at + 2] === OWN ? OWN : (commands.text(rows[at + 2]) ?? null);
    const thrownBy = rows[at + 4];
    const cause = thrownBy < 0 ? undefined : run.raised.take(thrownBy);
    run.tickets.settle(rows[at + 1], result, commands.text(rows[at + 3]) ?? null, cause);
  },
};

/**
 * The arguments of a body that nobody checked here.
 *
 * @param {HostCall} call
 * @param {number} field
 */
function argumentsOf({ turn, position }, field) {
  if (field === OWN) return JSON.parse(turn.issued[position].part.input);
  return turn.run.commands.text(field) ?? null;
}

/**
 * @param {HostCall} call
 * @param {unknown} input
 */
function runTool(call, input) {
  const context = new ToolContext(call);
  call.turn.run.host.samples.context = context;
  let returned;
  let isPromise;
  try {
    returned = call.tool.execute(input, context);
    isPromise = typeof returned?.then === "function";
  } catch (error) {
    settleThrown(call, error);
    return;
  }
  if (isPromise) awaitTool(call, returned);
  else settle(call, returned);
}

/**
 * @param {HostCall} call
 * @param {PromiseLike<unknown>} promise
 */
async function awaitTool(call, promise) {
  let returned;
  try {
    returned = await promise;
  } catch (error) {
    settleThrown(call, error);
    return;
  }
  settle(call, returned);
}

/**
 * @param {HostCall} call
 * @param {unknown} returned
 */
function settle(call, returned) {
  const { run } = call.turn;
  let answer;
  let text;
  try {
    answer = toolAnswer(call.tool, returned);
    text = answer.plain ? /** @type {string} */ (answer.value) : resultText(answer);
  } catch (error) {
    settleThrown(call, error);
    return;
  }
  call.settle();
  if (call.ticket !== null) run.tickets.noteAnswer(call.ticket, answer);
  if (call.issued !== undefined) call.issued.answer = answer;
  if (answer.plain) run.host.result(call, text);
  else run.host.answer(call, text);
}

/**
 * @param {HostCall} call
 * @param {unknown} error
 */
function settleThrown(call, error) {
  const { turn } = call;
  call.settle();
  if (!call.isNested) tellError(turn, call, error);
  if (call.isOpen && (call.isNested || turn.wraps)) turn.run.raised.keep(turn, call.id, error);
  turn.run.host.answer(call, thrownAnswer(error));
}
