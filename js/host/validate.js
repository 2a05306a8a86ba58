/**
 * The second check of arguments and parts: the Standard Schema behind the JSON Schema (D-26). Answers at once where the
 * schema does, so that most calls cost no turn of the microtask queue for it.
 */

import { toWellFormedText } from "../values/json-text.js";
import { thrown } from "./tool-answer.js";

/**
 * @template T
 * @param {any} schema
 * @param {unknown} given
 * @param {(value: unknown) => T} accept what becomes of the value that the schema returned
 * @returns {T | string | Promise<T | string>} what was accepted, or the refusal as the kernel reads it; never rejects
 */
export function validate(schema, given, accept) {
  try {
    const result = schema.standard ? schema.standard["~standard"].validate(given) : { value: given };
    if (typeof result?.then !== "function") return verdict(result, accept);
    return Promise.resolve(result)
      .then((settled) => verdict(settled, accept), thrownText)
      .catch(thrownText);
  } catch (error) {
    return thrownText(error);
  }
}

/**
 * @template T
 * @param {any} result
 * @param {(value: unknown) => T} accept
 */
function verdict(result, accept) {
  if (!result.issues) return accept(result.value);
  return JSON.stringify({ invalid: result.issues.map(issueOf) });
}

/** @param {any} issue of a Standard Schema */
function issueOf(issue) {
  const path = (issue.path ?? []).map(
    (/** @type {any} */ step) => `/${String(typeof step === "object" ? step.key : step)}`,
  );
  return { path: toWellFormedText(path.join("")), message: toWellFormedText(String(issue.message)) };
}

/** @param {unknown} error */
function thrownText(error) {
  return JSON.stringify({ thrown: thrown(error) });
}
