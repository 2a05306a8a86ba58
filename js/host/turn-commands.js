/**
 * Commands about turns as a whole: they open, tell, stand still and end. None of them runs user code but event readers.
 */

import { resultOf, usualResult } from "../reading/result.js";
import { PLACE } from "./answering.js";
import { HostTurn } from "./host-turn.js";

/** @import { Host } from "./host.js" */

/** @import { Run } from "./run.js" */

/** The host has it. */
const OWN = -2;

/** @type {readonly string[]} */
const NO_SCOPES = Object.freeze([]);

/** @type {Record<string, (host: Host, command: any, at: any) => void>} */
export const turnCommands = {
  open(host, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const key = /** @type {number} */ (rows[at + 1]);
    const parentKey = /** @type {number} */ (rows[at + 3]);
    const ticket = /** @type {number} */ (rows[at + 6]);
    const tools = /** @type {number} */ (rows[at + 7]);
    const submit = /** @type {number} */ (rows[at + 8]);
    const scopes = /** @type {number} */ (rows[at + 9]);
    const parent = parentKey < 0 ? undefined : host.turn(parentKey);
    const run = /** @type {Run} */ (parent?.run ?? host.starting.shift());
    const agent = /** @type {import("./program.js").AgentProgram} */ (run.program.agents[/** @type {number} */ (rows[at + 4])]);
    const offersAll = tools === OWN && submit < 0;
    const offered = offersAll ? undefined : { tools: host.text(tools) ?? agent.listed, submit: submit < 0 ? null : submit };
    const turn = new HostTurn({
      key,
      turnId: parent === undefined ? run.turnId : `${parent.turnId}.${rows[at + 2]}`,
      parentTurnId: parent?.turnId,
      attempt: /** @type {number} */ (rows[at + 5]),
      scopes: scopes === OWN ? NO_SCOPES : Object.freeze(host.text(scopes)),
      run,
      agent,
      offered,
      // A child's code runs in the context of the call that opened it.
      scope: host.tickets.get(ticket < 0 ? null : ticket)?.scope ?? parent?.scope ?? run.scope,
      keelOptions: host.options,
    });
    host.openTurn(turn);
  },

  close(host, /** @type {any} */ rows, /** @type {number} */ at) {
    host.closeTurn(host.turn(rows[at + 1]));
  },

  settled(host, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const turn = host.turn(/** @type {number} */ (rows[at + 1]));
    const end = at + 3 + /** @type {number} */ (rows[at + 2]);
    turn.append(host, at + 2);
    host.closeTurn(turn);
    host.pending.delete(turn.turnId);
    host.release(turn.run);
    // The usual result comes as numbers, any other as a text.
    const isUsual = /** @type {number} */ (rows[end]) >= 0;
    turn.run.settle(isUsual ? usualResult(host, turn, end) : resultOf(host.text(/** @type {number} */ (rows[end + 1])), turn, host));
  },

  suspended(host, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const turn = host.turn(/** @type {number} */ (rows[at + 1]));
    const end = at + 3 + /** @type {number} */ (rows[at + 2]);
    turn.append(host, at + 2);
    const result = host.text(/** @type {number} */ (rows[end + 1]));
    host.pending.set(turn.turnId, result.outcome.pending);
    host.release(turn.run);
    turn.run.settle(resultOf(result, turn, host));
  },

  append(host, [, turnKey, append]) {
    host.turn(turnKey).append(host, append);
  },

  event(host, [, turnKey, event]) {
    host.turn(turnKey)?.run.onEvent?.(event);
  },

  wake(host, [, at]) {
    host.wakeAt(at);
  },

  cancel(host, [, id, code, message]) {
    const effect = host.effects[id & PLACE];
    host.effects[id & PLACE] = undefined;
    effect?.cancel(code, message);
  },

  release(host, /** @type {any} */ rows, /** @type {number} */ at) {
    host.kept.take(rows[at + 2]);
  },
};
