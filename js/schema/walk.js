/**
 * Where schemas stand inside a JSON Schema: everything that rewrites or inspects one goes through here, so that `const`,
 * `default` or a property that happens to be called "$ref" are never taken for schemas.
 */

import { KeelError } from "../error.js";

/** @typedef {boolean | { [keyword: string]: any }} JsonSchema */

/** Deeper schemas are refused: what reads them (here, in the core, at providers) recurses. */
const DEPTH_MAX = 64;

/** Keywords that apply their schemas to the value itself, not to something inside it. */
export const IN_PLACE = Object.freeze(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]);

const ONE = [
  "additionalProperties",
  "additionalItems",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const LIST = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
const MAP = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/**
 * The schemas directly below a schema, each with the keyword it stands under and its path.
 *
 * @param {JsonSchema} schema
 * @returns {{ keyword: string, path: string[], schema: JsonSchema }[]}
 */
export function subschemas(schema) {
  if (!isObject(schema)) return [];
  const found = [];
  for (const keyword of ONE) {
    if (isSchema(schema[keyword])) found.push({ keyword, path: [keyword], schema: schema[keyword] });
  }
  for (const keyword of LIST) {
    if (!Array.isArray(schema[keyword])) continue;
    for (const [index, child] of schema[keyword].entries()) {
      if (isSchema(child)) found.push({ keyword, path: [keyword, String(index)], schema: child });
    }
  }
  for (const keyword of MAP) {
    if (!isObject(schema[keyword])) continue;
    for (const [name, child] of Object.entries(schema[keyword])) {
      if (isSchema(child)) found.push({ keyword, path: [keyword, name], schema: child });
    }
  }
  return found;
}

/**
 * Calls `visit` for a schema and everything below it, parents first.
 *
 * @param {JsonSchema} schema
 * @param {string} where names the schema in messages
 * @param {(schema: { [keyword: string]: any }, path: string[]) => void} visit
 * @param {string[]} [path]
 */
export function visitSchemas(schema, where, visit, path = []) {
  if (!isObject(schema)) return;
  if (path.length > 2 * DEPTH_MAX) {
    throw new KeelError(
      "SCHEMA_INVALID",
      `${where}: expected a schema of at most ${DEPTH_MAX} levels, found a deeper one`,
    );
  }
  visit(schema, path);
  for (const child of subschemas(schema)) visitSchemas(child.schema, where, visit, [...path, ...child.path]);
}

/**
 * The schema that a local `$ref` points to; undefined when nothing is there.
 *
 * @param {JsonSchema} root
 * @param {string} ref
 * @returns {JsonSchema | undefined}
 */
export function resolvePointer(root, ref) {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  /** @type {any} */
  let target = root;
  for (const token of ref.split("/").slice(1)) {
    const key = decode(token).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return undefined;
    target = target[key];
  }
  return isSchema(target) ? target : undefined;
}

/**
 * @param {any} value
 * @returns {value is { [keyword: string]: any }}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @param {unknown} value
 * @returns {value is JsonSchema}
 */
function isSchema(value) {
  return typeof value === "boolean" || isObject(value);
}

/** @param {string} token */
function decode(token) {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
