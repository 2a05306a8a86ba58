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

/** @typedef {object | string | undefined} Answer as the kernel reads it; undefined where there is nothing to say */

/**
 * The same for a callback that makes the whole answer, at once or later.
 *
 * @param {Question} question
 * @param {(effect: EffectSignal) => Answer | Promise<Answer>} callback
 * @param {"thrown" | "refused"} [failure] how the answer names what was thrown
 */
export function askPlainly({ id, turn, ticket = null }, callback, failure = "thrown") {
  const effect = expect(id, turn);
  scopeOf(turn, ticket).runInAsyncScope(askWithin, undefined, effect, callback, failure);
}

/**
 * @param {EffectSignal} effect
 * @param {(effect: EffectSignal) => Answer | Promise<Answer>} callback
 * @param {"thrown" | "refused"} failure
 */
function askWithin(effect, callback, failure) {
  let answer;
  try {
    answer = callback(effect);
  } catch (error) {
    return tell(effect, { [failure]: thrown(error) });
  }
  if (answer instanceof Promise) {
    answer.then(
      (later) => tell(effect, later, failure),
      (error) => tell(effect, { [failure]: thrown(error) }),
    );
  } else {
    tell(effect, answer, failure);
  }
}

/**
 * @param {EffectSignal} effect
 * @param {Answer} answer
 * @param {"thrown" | "refused"} [failure] of an answer that may have no JSON form
 */
function tell(effect, answer, failure = "thrown") {
  const { host } = effect.turn.run;
  if (answer === undefined) return host.nothing(effect);
  let text;
  try {
    text = JSON.stringify(answer);
  } catch (error) {
    text = JSON.stringify({ [failure]: thrown(error) });
  }
  host.answer(effect, text);
}
