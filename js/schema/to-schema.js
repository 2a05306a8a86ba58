/**
 * Schemas of tools and parts: any Standard Schema or a plain JSON Schema, as what the model sees, what the core
 * validates with, and what JavaScript still has to check.
 */

import { native } from "../binding/native.js";
import { describe } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { convert } from "./convert.js";
import { loosen, loosenWholly } from "./loosen.js";
import { copyPlainSchema } from "./plain.js";
import { present, withObjectType } from "./present.js";
import { isObject, visitSchemas } from "./walk.js";

/**
 * @typedef {object} Schema
 * @property {{ readonly [keyword: string]: any }} json the JSON Schema that the model sees: the input side
 * @property {string} text `json` as text
 * @property {string} checkText the JSON Schema that the core validates with, as text: never stricter than the schema
 * @property {any} [standard] the Standard Schema, which sees what the core let through; absent for a plain JSON Schema
 */

/** @type {WeakMap<object, Schema>} */
const schemas = new WeakMap();

/** @type {WeakMap<Schema, any>} */
const compiled = new WeakMap();

/**
 * @param {any} given
 * @param {string} where names the schema in messages
 * @returns {Schema}
 */
export function toSchema(given, where) {
  if ((typeof given !== "object" && typeof given !== "function") || given === null || Array.isArray(given)) {
    throw new KeelError(
      "SCHEMA_INVALID",
      `${where}: expected a Standard Schema or a JSON Schema object, found ${describe(given)}`,
    );
  }
  const known = schemas.get(given);
  if (known) return known;
  const schema = isStandard(given) ? fromStandard(given, where) : fromPlain(given, where);
  schemas.set(given, schema);
  return schema;
}

/**
 * The schema of a tool's input: an object at the top, as model providers ask for.
 *
 * @param {any} given
 * @param {string} where
 * @returns {Schema}
 */
export function toInputSchema(given, where) {
  const schema = toSchema(isEmpty(given) ? ANY_OBJECT : given, where);
  if (schema.json.type === "object") return schema;
  const found = schema.json.type === undefined ? "no type" : `type ${JSON.stringify(schema.json.type)}`;
  throw new KeelError("SCHEMA_INVALID", `${where}: expected type "object" at the top of the schema, found ${found}`);
}

/** What `{}` means as the input of a tool: any object. */
const ANY_OBJECT = Object.freeze({ type: "object" });

/** @param {any} given */
function isEmpty(given) {
  return isObject(given) && Object.getPrototypeOf(given) === Object.prototype && Object.keys(given).length === 0;
}

/**
 * The core's compiled form, made once.
 *
 * @param {Schema} schema
 * @param {string} [where]
 * @returns {any}
 */
export function compile(schema, where = "schema") {
  let core = compiled.get(schema);
  if (core === undefined) {
    core = compileText(schema.checkText, where);
    compiled.set(schema, core);
  }
  return core;
}

/**
 * The same schema as the only property of an object: for providers, which take nothing but objects at the top.
 *
 * @param {Schema} schema
 * @returns {Schema}
 */
export function wrapSchema({ json, checkText, standard }) {
  const check = wrapJson(JSON.parse(checkText));
  return makeSchema(wrapJson(json), check, standard && { "~standard": wrapStandard(standard["~standard"]) });
}

/**
 * The same schema without some of its properties: those that the host fills in.
 *
 * @param {Schema} schema
 * @param {readonly string[]} names
 * @returns {Schema}
 */
export function withoutProperties({ json, checkText, standard }, names) {
  return makeSchema(omitProperties(json, names), omitProperties(JSON.parse(checkText), names), standard);
}

/** @param {any} given */
function isStandard(given) {
  return typeof given["~standard"]?.validate === "function";
}

/**
 * @param {any} given
 * @param {string} where
 */
function fromStandard(given, where) {
  const { json, marked } = convert(given, where);
  const check = marked ? loosen(json) : loosenWholly(json);
  return makeSchema(present(json), check, given);
}

/**
 * @param {object} given
 * @param {string} where
 */
function fromPlain(given, where) {
  if (typeof given === "function" || /** @type {any} */ (given)._def !== undefined) {
    throw new KeelError(
      "SCHEMA_NOT_CONVERTIBLE",
      `${where}: expected a Standard Schema (zod 3.25 or later, valibot 1, arktype 2, …) or a JSON Schema object, found ${describe(given)}`,
    );
  }
  const json = copyPlainSchema(given, where);
  const check = withObjectType(structuredClone(json));
  return makeSchema(present(json), check, undefined);
}

/**
 * @param {{ [keyword: string]: any }} json
 * @param {import("./walk.js").JsonSchema} check
 * @param {any} standard
 * @returns {Schema}
 */
function makeSchema(json, check, standard) {
  const parts = { json: freezeDeep(json), text: JSON.stringify(json), checkText: JSON.stringify(check) };
  return Object.freeze(standard === undefined ? parts : { ...parts, standard });
}

/**
 * @param {string} text
 * @param {string} where
 */
function compileText(text, where) {
  try {
    return new native.Schema(text);
  } catch (cause) {
    const reason = /** @type {any} */ (cause)?.message ?? cause;
    throw new KeelError("SCHEMA_INVALID", `${where}: the JSON Schema does not compile: ${reason}`, { cause });
  }
}

/** @param {any} json */
function wrapJson(json) {
  const { $defs, $schema, ...value } = structuredClone(json);
  const { $id } = value;
  // Under an id of its own, a schema's references keep meaning places inside it.
  if ($id === undefined) moveReferences({ ...value, $defs });
  return {
    ...($schema && { $schema }),
    type: "object",
    properties: { value },
    required: ["value"],
    additionalProperties: false,
    ...($defs && { $defs }),
  };
}

/**
 * Definitions stay at the top; everything else that is referred to lies one level deeper.
 *
 * @param {any} json
 */
function moveReferences(json) {
  visitSchemas(json, "schema", (schema) => {
    const { $ref } = schema;
    if (typeof $ref === "string" && /^#(?:\/(?!\$defs\/)|$)/.test($ref))
      schema.$ref = $ref.replace("#", "#/properties/value");
  });
}

/** @param {any} inner */
function wrapStandard(inner) {
  return {
    version: 1,
    vendor: inner.vendor,
    /** @param {any} input */
    validate(input) {
      const result = inner.validate(input?.value);
      return typeof result?.then === "function" ? result.then(wrapResult) : wrapResult(result);
    },
  };
}

/** @param {any} result */
function wrapResult(result) {
  if (!result.issues) return { value: { value: result.value } };
  return {
    issues: result.issues.map((/** @type {any} */ issue) => ({
      ...issue,
      message: issue.message,
      path: ["value", ...(issue.path ?? [])],
    })),
  };
}

/**
 * @param {any} json
 * @param {readonly string[]} names
 * @returns {any}
 */
function omitProperties(json, names) {
  if (!isObject(json)) return json;
  const rest = { ...json };
  if (isObject(rest.properties)) {
    rest.properties = Object.fromEntries(Object.entries(rest.properties).filter(([name]) => !names.includes(name)));
  }
  if (Array.isArray(rest.required))
    rest.required = rest.required.filter((/** @type {string} */ name) => !names.includes(name));
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    if (Array.isArray(rest[keyword]))
      rest[keyword] = rest[keyword].map((/** @type {any} */ branch) => omitProperties(branch, names));
  }
  return rest;
}

/**
 * @template T
 * @param {T} value
 * @returns {T}
 */
function freezeDeep(value) {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) freezeDeep(child);
  }
  return value;
}
