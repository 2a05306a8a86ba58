import { defineMiddleware } from "../definitions/define-middleware.js";
import { checkCount, checkOptions, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";

/** Turns whose calls are remembered; beyond that the oldest are forgotten. */
const TURNS_MAX = 1_000;

/**
 * Fails a turn whose model repeats the same call: the `max`-th repeat is REPEATED_CALL. Nested calls are not counted: they
 * are the tool's business, not the model's.
 *
 * @param {{ max: number }} options
 */
export function repeatGuard(options) {
  checkOptions(options, ["max"], "repeatGuard");
  const max = checkCount(options.max, "repeatGuard: max", 1);
  if (max === undefined) throw optionInvalid("repeatGuard: max", "a positive whole number", max);
  /** @type {Map<string, Map<string, number>>} */
  const turns = new Map();

  return defineMiddleware({
    name: "repeatGuard",
    nested: "exempt",
    beforeTool(/** @type {any} */ { turnId }, /** @type {any} */ { toolId, args }) {
      const calls = turns.get(turnId) ?? new Map();
      turns.set(turnId, calls);
      if (turns.size > TURNS_MAX) turns.delete(/** @type {string} */ (turns.keys().next().value));
      const key = JSON.stringify([toolId, args]);
      const repeats = calls.get(key) ?? 0;
      calls.set(key, repeats + 1);
      if (repeats >= max)
        throw new KeelError("REPEATED_CALL", `the same call to '${toolId}' was repeated ${repeats} times`);
    },
  });
}
