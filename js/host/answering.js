/**
 * How the host answers: one effect per command, in the async context that the command's code belongs to.
 */

import { EffectSignal } from "./effect-signal.js";
import { thrown } from "./tool-answer.js";

/** @import { Host } from "./host.js" */
/** @import { HostTurn } from "./host-turn.js" */

/** The bits of an id that name its place, which is taken again when it is free: the kernel's `PLACE_BITS`. */
export const PLACE = 2 ** 20 - 1;

/**
 * Notes that a command will be answered.
 *
 * @param {Host} host
 * @param {number} id
 * @param {HostTurn} turn
 */
export function expect(host, id, turn) {
  const effect = new EffectSignal(id, turn);
  host.effects[id & PLACE] = effect;
  host.samples.effect = effect;
  return effect;
}

/**
 * The async context of the `callTool()` or `next()` that a command works for, else that of its turn (D-37).
 *
 * @param {Host} host
 * @param {HostTurn} turn
 * @param {number | null} ticket
 */
export function scopeOf(host, turn, ticket) {
  return host.tickets.get(ticket)?.scope ?? turn.scope;
}

/**
 * A command that asks a user's callback.
 *
 * @typedef {object} Question
 * @property {number} id
 * @property {HostTurn} turn
 * @property {number | null} [ticket]
 */

/**
 * Asks a user's callback and answers with what it returned or threw.
 *
 * @param {Host} host
 * @param {Question} question
 * @param {(effect: EffectSignal) => Promise<unknown>} callback
 */
export function ask(host, question, callback) {
  askPlainly(host, question, async (effect) => ({ ok: await callback(effect) }));
}

/**
 * The same for a callback that makes the whole answer.
 *
 * @param {Host} host
 * @param {Question} question
 * @param {(effect: EffectSignal) => Promise<object | string>} callback
 * @param {"thrown" | "refused"} [failure] how the answer names what was thrown
 */
export function askPlainly(host, { id, turn, ticket = null }, callback, failure = "thrown") {
  const effect = expect(host, id, turn);
  scopeOf(host, turn, ticket).runInAsyncScope(async () => {
    let text;
    try {
      text = JSON.stringify(await callback(effect));
    } catch (error) {
      text = JSON.stringify({ [failure]: thrown(error) });
    }
    host.answer(effect, text);
  });
}
