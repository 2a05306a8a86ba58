/**
 * The copy of a Standard Schema's JSON Schema that the core validates with.
 *
 * It must never refuse what the schema itself accepts. So it keeps the shape of a value (types, properties, items,
 * alternatives, words) and leaves the rest to the schema, which sees every value afterwards: numeric ranges and lengths
 * count differently there (floating point, UTF-16 units), patterns are other regular expressions with flags, unknown
 * keys may be dropped, and where a value is coerced any input may do.
 */

import { isObject } from "./walk.js";

/** @typedef {import("./walk.js").JsonSchema} JsonSchema */

/** Marks a place where the schema library takes other inputs than its JSON Schema says. */
export const OPEN = "x-keel-open";
/** Lists required properties that the schema library does without. */
export const OMITTABLE = "x-keel-omittable";

/**
 * @param {JsonSchema} schema
 * @returns {JsonSchema}
 */
export function loosen(schema) {
  if (!isObject(schema)) return true;
  /** @type {{ [keyword: string]: any }} */
  const loose = {};
  // Kept at open places too: references from elsewhere may point into them.
  for (const keyword of ["$defs", "definitions"]) {
    if (isObject(schema[keyword])) loose[keyword] = loosenMap(schema[keyword]);
  }
  if (schema[OPEN] === true) return loose;
  if (schema.$ref !== undefined) loose.$ref = schema.$ref;
  if (schema.type !== undefined) loose.type = loosenType(schema.type);
  if ("const" in schema && isWord(schema.const)) loose.const = schema.const;
  if (Array.isArray(schema.enum) && schema.enum.every(isWord)) loose.enum = schema.enum;
  if (isObject(schema.properties)) loose.properties = loosenMap(schema.properties);
  if (Array.isArray(schema.required)) {
    const omittable = schema[OMITTABLE] ?? [];
    loose.required = schema.required.filter((name) => !omittable.includes(name));
  }
  if (isObject(schema.items)) loose.items = loosen(schema.items);
  if (Array.isArray(schema.prefixItems)) loose.prefixItems = schema.prefixItems.map(loosen);
  // Alternatives that excluded each other may overlap once they are loosened: "exactly one" becomes "any".
  const alternatives = [schema.anyOf, schema.oneOf].filter(Array.isArray).map((list) => ({ anyOf: list.map(loosen) }));
  const all = [...(Array.isArray(schema.allOf) ? schema.allOf.map(loosen) : []), ...alternatives];
  if (all.length > 0) loose.allOf = all;
  return loose;
}

/**
 * What is safe to check when the schema library is not known: that an object is one.
 *
 * @param {{ [keyword: string]: any }} schema
 * @returns {JsonSchema}
 */
export function loosenWholly(schema) {
  return schema.type === "object" && schema[OPEN] !== true ? { type: loosenType("object") } : {};
}

/**
 * Some libraries take an array for an object without required properties, and all take 5.0 for an integer.
 *
 * @param {string | string[]} type
 */
function loosenType(type) {
  const types = [type]
    .flat()
    .flatMap((name) => (name === "object" ? ["object", "array"] : name === "integer" ? ["number"] : [name]));
  const distinct = [...new Set(types)];
  return distinct.length === 1 ? distinct[0] : distinct;
}

/** @param {{ [name: string]: JsonSchema }} schemas */
function loosenMap(schemas) {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, loosen(schema)]));
}

/**
 * Numbers are left out: equal ones may be spelt differently.
 *
 * @param {unknown} value
 */
function isWord(value) {
  return typeof value === "string" || typeof value === "boolean" || value === null;
}
