/**
 * Checks of option objects, shared by all definitions: known names only, and messages that say what was expected and
 * what was found. `undefined` always means "not given".
 */

import { KeelError } from "../error.js";

/**
 * Checks that an option object is one and has no unknown names. A promise has no names at all: an `await` that was
 * forgotten would pass for "nothing given", which of a gate means "everything is admitted".
 *
 * @param {any} given
 * @param {readonly string[]} known
 * @param {string} where names the definition in messages
 * @returns {any} what was given
 */
export function checkOptions(given, known, where) {
  if (typeof given !== "object" || given === null || Array.isArray(given) || typeof given.then === "function") {
    throw optionInvalid(where, "an options object", given);
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = closest(name, known);
    const hint = near === undefined ? `known are: ${known.join(", ")}` : `did you mean "${near}"?`;
    throw new KeelError("OPTION_UNKNOWN", `${where}: unknown option "${name}"; ${hint}`);
  }
  return given;
}

/**
 * @param {string} where
 * @param {string} expected
 * @param {unknown} found
 */
export function optionInvalid(where, expected, found) {
  return new KeelError("OPTION_INVALID", `${where}: expected ${expected}, found ${describe(found)}`);
}

/**
 * What tool ids and part names may look like so that every model provider takes them.
 *
 * @param {unknown} id
 * @param {string} where
 * @param {number} [lengthMax]
 * @returns {string}
 */
export function checkId(id, where, lengthMax = 64) {
  if (typeof id === "string" && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(id) && id.length <= lengthMax) return id;
  throw new KeelError(
    "ID_INVALID",
    `${where}: expected a letter or "_" followed by letters, digits, "_" or "-", at most ${lengthMax} characters in all, ` +
      `found ${describe(id)}`,
  );
}

/**
 * @template T
 * @param {T} value
 * @param {readonly unknown[]} choices
 * @param {string} where
 * @returns {T}
 */
export function checkChoice(value, choices, where) {
  if (value === undefined || choices.includes(value)) return value;
  throw optionInvalid(where, choices.map((choice) => JSON.stringify(choice)).join(" or "), value);
}

/**
 * @template T
 * @param {T} value
 * @param {"boolean" | "function" | "string"} type
 * @param {string} where
 * @returns {T}
 */
export function checkType(value, type, where) {
  if (value === undefined || typeof value === type) return value;
  throw optionInvalid(where, `a ${type}`, value);
}

/**
 * @param {unknown} value
 * @param {string} where
 * @returns {readonly any[]} a frozen copy; empty when not given
 */
export function checkArray(value, where) {
  if (value === undefined) return Object.freeze([]);
  if (!Array.isArray(value)) throw optionInvalid(where, "an array", value);
  return Object.freeze([...value]);
}

/**
 * @param {unknown} value
 * @param {string} where
 * @returns {readonly string[]}
 */
export function checkStrings(value, where) {
  const strings = checkArray(value, where);
  for (const [index, string] of strings.entries()) {
    if (typeof string !== "string" || string === "" || !isWellFormed(string))
      throw optionInvalid(`${where}[${index}]`, "a non-empty string of whole characters", string);
  }
  return strings;
}

/**
 * No half of a surrogate pair: UTF-8, and so the kernel, cannot hold one.
 *
 * @param {any} text a string; the method is younger than the language version that the types describe
 * @returns {boolean}
 */
export function isWellFormed(text) {
  return text.isWellFormed();
}

/**
 * @param {unknown} value
 * @param {string} where
 * @returns {number | undefined}
 */
export function checkCount(value, where, min = 0) {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= min) return Math.min(Number(value), COUNT_MAX);
  throw optionInvalid(where, min === 0 ? "a whole number, 0 or more" : "a positive whole number", value);
}

/** Counts are held in 32 bits: nothing reaches more, so a higher count is the same as this one. */
export const COUNT_MAX = 2 ** 32 - 1;

/**
 * A copy without the keys that were not given, frozen: definitions never change after they were made.
 *
 * @template {object} T
 * @param {T} definition
 * @returns {Readonly<T>}
 */
export function freezeDefinition(definition) {
  const entries = Object.entries(definition).filter(([, value]) => value !== undefined);
  return Object.freeze(/** @type {T} */ (Object.fromEntries(entries)));
}

/**
 * A value in a few words, for messages. Never throws, whatever the value.
 *
 * @param {any} value
 * @returns {string}
 */
export function describe(value) {
  try {
    if (typeof value === "string") return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function") return "a function";
    if (typeof value !== "object" || value === null) return String(value);
    if (Array.isArray(value)) return "an array";
    if (typeof value.then === "function") return "a promise";
    if (typeof value.kind === "string") return `an object of kind ${JSON.stringify(value.kind)}`;
    const keys = Object.keys(value);
    return keys.length === 0 ? "an object" : `an object with ${keys.slice(0, 5).join(", ")}`;
  } catch {
    return "an object";
  }
}

/**
 * The known name that is nearest to a misspelt one, if it is near at all.
 *
 * @param {string} name
 * @param {readonly string[]} known
 */
function closest(name, known) {
  const distances = known.map((candidate) => editDistance(name.toLowerCase(), candidate.toLowerCase()));
  const least = Math.min(...distances);
  return least <= Math.max(2, name.length / 2) ? known[distances.indexOf(least)] : undefined;
}

/**
 * @param {string} from
 * @param {string} to
 */
function editDistance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = Number(row[j - 1]) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(swap, Number(row[j]) + 1, Number(next[j - 1]) + 1));
    }
    row = next;
  }
  return Number(row[to.length]);
}
