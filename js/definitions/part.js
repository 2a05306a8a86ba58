/**
 * Parts: what an agent may emit, and what a contract asks it to deliver.
 */

import { compile, toSchema, wrapSchema } from "../schema/to-schema.js";
import { checkChoice, checkId, checkOptions, checkType, freezeDefinition, optionInvalid } from "./options.js";

/** @import { Schema } from "../schema/to-schema.js" */

/**
 * @typedef {object} PartDefinition
 * @property {"part"} kind
 * @property {string} name
 * @property {string} [description]
 * @property {"content" | "ephemeral"} persist
 * @property {Schema} schema
 */

/** "submit_" and the name of a part together are a tool's id. */
const NAME_LENGTH_MAX = 64 - "submit_".length;

/** @type {WeakMap<object, { schema: Schema, wrapped: boolean }>} */
const submitSchemas = new WeakMap();

/**
 * @param {any} options
 * @returns {any}
 */
export function definePart(options) {
  checkOptions(options, ["name", "schema", "description", "persist"], "definePart");
  const name = checkId(options.name, "definePart: name", NAME_LENGTH_MAX);
  const where = `part "${name}"`;
  const schema = toSchema(options.schema, `${where}: schema`);
  compile(schema, `${where}: schema`);
  /** @type {PartDefinition} */
  const part = {
    kind: "part",
    name,
    description: checkType(options.description, "string", `${where}: description`),
    persist: checkChoice(options.persist, ["content", "ephemeral"], `${where}: persist`) ?? "ephemeral",
    schema,
  };
  return freezeDefinition(part);
}

/**
 * The id of the tool with which a part is delivered.
 *
 * @param {{ name: string }} part
 */
export function submitToolId(part) {
  return `submit_${part.name}`;
}

/**
 * The input schema of a part's submit tool. Tools take objects, so any other value travels as `{ value }`.
 *
 * @param {PartDefinition} part
 * @returns {{ schema: Schema, wrapped: boolean }}
 */
export function submitSchema(part) {
  let submit = submitSchemas.get(part);
  if (submit === undefined) {
    const wrapped = part.schema.json.type !== "object";
    submit = Object.freeze({ schema: wrapped ? wrapSchema(part.schema) : part.schema, wrapped });
    submitSchemas.set(part, submit);
  }
  return submit;
}

/**
 * @param {any} value
 * @returns {value is PartDefinition}
 */
export function isPart(value) {
  return value?.kind === "part" && typeof value.name === "string" && typeof value.schema?.checkText === "string";
}

/**
 * @param {any} value
 * @param {string} where
 * @returns {PartDefinition}
 */
export function checkPart(value, where) {
  if (isPart(value)) return value;
  throw optionInvalid(where, "a part made with definePart", value);
}
