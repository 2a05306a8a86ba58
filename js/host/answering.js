/**
 * How the host answers: one effect per command, in the async context that the command's code belongs to.
 */

import { EffectSignal } from "./effect-signal.js";
import { thrown } from "./tool-answer.js";

/** @import { HostTurn } from "./host-turn.js" */

/**
 * Notes that a command will be answered.
 *
 * @param {number} id
 * @param {HostTurn} turn
 */
export function expect(id, turn) {
  const { run } = turn;
  const effect = new EffectSignal(id, turn);
  run.expect(effect);
  run.host.samples.effect = effect;
  return effect;
}

/**
 * The async context of the `callTool()` or `next()` that a command works for, else that of its turn (D-37).
 *
 * @param {HostTurn} turn
 * @param {number | null} ticket
 */
export function scopeOf(turn, ticket) {
  return ticket === null ? turn.scope : (turn.run.tickets.get(ticket)?.scope ?? turn.scope);
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
 * @param {Question} question
 * @param {(effect: EffectSignal) => Promise<unknown>} callback
 */
export function ask(question, callback) {
  askPlainly(question, async (effect) => ({ ok: await callback(effect) }));
}

/**
 * The same for a callback that makes the whole answer.
 *
 * @param {Question} question
 * @param {(effect: EffectSignal) => Promise<object | string>} callback
 * @param {"thrown" | "refused"} [failure] how the answer names what was thrown
 */
export function askPlainly({ id, turn, ticket = null }, callback, failure = "thrown") {
  const effect = expect(id, turn);
  scopeOf(turn, ticket).runInAsyncScope(async () => {
    let text;
    try {
      text = JSON.stringify(await callback(effect));
    } catch (error) {
      text = JSON.stringify({ [failure]: thrown(error) });
    }
    turn.run.host.answer(effect, text);
  });
}
