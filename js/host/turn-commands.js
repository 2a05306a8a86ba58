/**
 * Commands about turns as a whole: they open, tell, stand still and end. None of them runs user code but event readers.
 */

import { resultOf, usualResult } from "../reading/result.js";
import { scopeOf } from "./answering.js";
import { OWN } from "./command-queue.js";
import { HostTurn } from "./host-turn.js";

/** @import { AgentProgram } from "./program.js" */
/** @import { Run } from "./run.js" */

/** @type {readonly string[]} */
const NO_SCOPES = Object.freeze([]);

/** @type {Record<string, (run: Run, command: any, at: any) => void>} */
export const turnCommands = {
  open(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const { commands } = run;
    const parentKey = rows[at + 3];
    const ticket = rows[at + 6];
    const tools = rows[at + 7];
    const submit = rows[at + 8];
    const scopes = rows[at + 9];
    const parent = parentKey < 0 ? undefined : run.turn(parentKey);
    const agent = /** @type {AgentProgram} */ (run.program.agents[rows[at + 4]]);
    const offersAll = tools === OWN && submit < 0;
    const turn = new HostTurn({
      key: rows[at + 1],
      turnId: parent === undefined ? run.turnId : `${parent.turnId}.${rows[at + 2]}`,
      parentTurnId: parent?.turnId,
      attempt: rows[at + 5],
      scopes: scopes === OWN ? NO_SCOPES : Object.freeze(commands.text(scopes)),
      run,
      agent,
      offered: offersAll
        ? undefined
        : { tools: commands.text(tools) ?? agent.listed, submit: submit < 0 ? null : submit },
      // A child's code runs in the context of the call that opened it.
      scope: parent === undefined ? run.scope : scopeOf(parent, ticket < 0 ? null : ticket),
    });
    run.openTurn(turn);
  },

  close(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    run.closeTurn(run.turn(rows[at + 1]));
  },

  settled(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const turn = run.turn(rows[at + 1]);
    const end = at + 3 + rows[at + 2];
    turn.append(at + 2);
    run.closeTurn(turn);
    // The usual result comes as numbers, any other as a text.
    const isUsual = rows[end] >= 0;
    const result = isUsual ? usualResult(turn, end) : resultOf(run.commands.text(rows[end + 1]), turn);
    run.pending = undefined;
    run.host.rest(run, "over");
    run.settle(result);
  },

  suspended(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const turn = run.turn(rows[at + 1]);
    const end = at + 3 + rows[at + 2];
    turn.append(at + 2);
    const result = resultOf(run.commands.text(rows[end + 1]), turn);
    run.pending = result.outcome.pending;
    run.host.rest(run, "suspended");
    run.settle(result);
  },

  append(run, [, turnKey, append]) {
    run.turn(turnKey).append(append);
  },

  event(run, [, , event]) {
    run.onEvent?.(event);
  },

  wake(run, [, at]) {
    run.wakeAt(at);
  },

  cancel(run, [, id, code, message]) {
    run.cancel(id, code, message);
  },

  release(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    run.kept.take(rows[at + 2]);
  },
};
