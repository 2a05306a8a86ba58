/**
 * Sources: texts that an agent reads before its instructions.
 */

import { checkAccess } from "./access.js";
import { checkId, checkOptions, freezeDefinition, optionInvalid } from "./options.js";

/**
 * @typedef {object} SourceDefinition
 * @property {"source"} kind
 * @property {string} id
 * @property {import("./access.js").AccessRule} access
 * @property {(context: any) => string | Promise<string>} load
 */

/**
 * @param {any} options
 * @returns {any}
 */
export function defineSource(options) {
  checkOptions(options, ["id", "access", "load"], "defineSource");
  const id = checkId(options.id, "defineSource: id");
  const where = `source "${id}"`;
  if (typeof options.load !== "function") throw optionInvalid(`${where}: load`, "a function", options.load);
  /** @type {SourceDefinition} */
  const source = { kind: "source", id, access: checkAccess(options.access, where), load: options.load };
  return freezeDefinition(source);
}

/**
 * @param {any} value
 * @param {string} where
 * @returns {SourceDefinition}
 */
export function checkSource(value, where) {
  if (value?.kind === "source" && typeof value.id === "string" && typeof value.load === "function") return value;
  throw optionInvalid(where, "a source made with defineSource", value);
}
