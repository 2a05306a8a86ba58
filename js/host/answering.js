/**
 * How the host answers: one effect per command, in the async context that the command's code belongs to.
 */

import { EffectSignal } from "./effect-signal.js";
import { thrown } from "./tool-answer.js";

/** @import { Host } from "../host.js" */
/** @import { HostTurn } from "./host-turn.js" */

/**
 * Notes that a command will be answered.
 *
 * @param {Host} host
 * @param {any} command
 */
export function expect(host, command) {
  const effect = new EffectSignal(turnOf(host, command));
  host.effects.set(command.id, effect);
  host.samples.effect = effect;
  return effect;
}

/**
 * @param {Host} host
 * @param {any} command
 */
export function turnOf(host, command) {
  return /** @type {HostTurn} */ (host.turns.get(command.turnId));
}

/**
 * The async context of the `callTool()` or `next()` that the command works for, else that of its turn (D-37).
 *
 * @param {Host} host
 * @param {any} command
 */
export function scopeOf(host, command) {
  // Commands that never work for a call have no ticket at all.
  const ticket = host.tickets.get(command.ticket);
  return ticket?.scope ?? turnOf(host, command).scope;
}

/**
 * Asks a user's callback and answers with what it returned or threw.
 *
 * @param {Host} host
 * @param {any} command
 * @param {(effect: EffectSignal) => Promise<unknown>} callback
 */
export function ask(host, command, callback) {
  askPlainly(host, command, async (effect) => ({ ok: await callback(effect) }));
}

/**
 * The same for a callback that makes the whole answer.
 *
 * @param {Host} host
 * @param {any} command
 * @param {(effect: EffectSignal) => Promise<object | string>} callback
 * @param {"thrown" | "refused"} [failure] how the answer names what was thrown
 */
export function askPlainly(host, command, callback, failure = "thrown") {
  const effect = expect(host, command);
  scopeOf(host, command).runInAsyncScope(async () => {
    let text;
    try {
      text = JSON.stringify(await callback(effect));
    } catch (error) {
      text = JSON.stringify({ [failure]: thrown(error) });
    }
    host.answer(command.id, text);
  });
}
