/**
 * Commands about turns as a whole: they open, tell, stand still and end. None of them runs user code but event readers.
 */

import { resultOf } from "../result.js";
import { HostTurn } from "./host-turn.js";

/** @import { Host } from "../host.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const turnCommands = {
  open(host, command) {
    const parent = host.turns.get(command.parentTurnId);
    const run = parent?.run ?? /** @type {any} */ (host.runs.get(command.rootTurnId));
    // A child's code runs in the context of the call that opened it.
    const scope = host.tickets.get(command.ticket)?.scope ?? parent?.scope ?? run.scope;
    host.turns.set(command.turnId, new HostTurn(command, run, run.program.agents[command.agent], scope, host.options));
  },

  close(host, { turnId }) {
    const turn = /** @type {HostTurn} */ (host.turns.get(turnId));
    host.raised.forget(turn);
    host.turns.delete(turnId);
  },

  settled(host, { turnId, append, result }) {
    const turn = /** @type {HostTurn} */ (host.turns.get(turnId));
    turn.transcript.append(append);
    host.raised.forget(turn);
    host.turns.delete(turnId);
    host.pending.delete(turnId);
    host.release(turn.run);
    turn.run.settle(resultOf(result, turn, host));
  },

  suspended(host, { turnId, append, result }) {
    const turn = /** @type {HostTurn} */ (host.turns.get(turnId));
    turn.transcript.append(append);
    host.pending.set(turnId, result.outcome.pending);
    host.release(turn.run);
    turn.run.settle(resultOf(result, turn, host));
  },

  append(host, { turnId, append }) {
    /** @type {HostTurn} */ (host.turns.get(turnId)).transcript.append(append);
  },

  event(host, { event }) {
    host.turns.get(event.turnId)?.run.onEvent?.(event);
  },

  wake(host, { at }) {
    host.wakeAt(at);
  },

  cancel(host, { id, code, message }) {
    const effect = host.effects.get(id);
    host.effects.delete(id);
    effect?.cancel(code, message);
  },

  release(host, { key }) {
    host.prepared.delete(key);
  },
};
