/**
 * Commands about turns as a whole: they open, tell, stand still and end. None of them runs user code but event readers.
 */

import { resultOf } from "../result.js";
import { HostTurn } from "./host-turn.js";

/** @import { Host } from "../host.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const turnCommands = {
  open(host, [, turnKey, turnId, parentKey, agentIndex, attempt, ticket, tools, submit, scopes]) {
    const parent = parentKey === null ? undefined : host.turn(parentKey);
    const run = parent?.run ?? /** @type {any} */ (host.runs.get(turnId));
    const turn = new HostTurn({
      key: turnKey,
      turnId,
      parentTurnId: parent?.turnId,
      attempt,
      scopes: Object.freeze(scopes),
      run,
      agent: run.program.agents[agentIndex],
      offered: { tools, submit },
      // A child's code runs in the context of the call that opened it.
      scope: host.tickets.get(ticket)?.scope ?? parent?.scope ?? run.scope,
      keelOptions: host.options,
    });
    host.openTurn(turn);
  },

  close(host, [, turnKey]) {
    host.closeTurn(host.turn(turnKey));
  },

  settled(host, [, turnKey, append, result]) {
    const turn = host.turn(turnKey);
    turn.transcript.append(append);
    host.closeTurn(turn);
    host.pending.delete(turn.turnId);
    host.release(turn.run);
    turn.run.settle(resultOf(result, turn, host));
  },

  suspended(host, [, turnKey, append, result]) {
    const turn = host.turn(turnKey);
    turn.transcript.append(append);
    host.pending.set(turn.turnId, result.outcome.pending);
    host.release(turn.run);
    turn.run.settle(resultOf(result, turn, host));
  },

  append(host, [, turnKey, append]) {
    host.turn(turnKey).transcript.append(append);
  },

  event(host, [, turnKey, event]) {
    host.turn(turnKey)?.run.onEvent?.(event);
  },

  wake(host, [, at]) {
    host.wakeAt(at);
  },

  cancel(host, [, id, code, message]) {
    const effect = host.effects.get(id);
    host.effects.delete(id);
    effect?.cancel(code, message);
  },

  release(host, [, turnKey, kept]) {
    host.turn(turnKey)?.take(kept);
  },
};
