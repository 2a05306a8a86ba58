/**
 * The copy of a JSON Schema that models see: the same values, in the form that model providers take.
 */

import { OMITTABLE, OPEN } from "./loosen.js";
import { isObject, resolvePointer, subschemas } from "./walk.js";

/** @typedef {{ [keyword: string]: any }} SchemaObject */

const ALTERNATIVES = ["anyOf", "oneOf"];

/** A reference to a place other than the root or a definition: such places must not move. */
const PLACE_REFERENCE = /"\$ref":"#\/(?!(?:\$defs|definitions)\/[^/"]+")/;

/**
 * Rewrites a schema in place and gives it back: no `propertyNames` (providers refuse it; validation still checks the
 * keys), alternatives with a type, and `type: "object"` at the top where only objects fit.
 *
 * @param {SchemaObject} root
 * @returns {SchemaObject}
 */
export function present(root) {
  presentBelow(root, PLACE_REFERENCE.test(JSON.stringify(root)));
  return withObjectType(root);
}

/**
 * States `type: "object"` at the top of a schema that fits objects only, as the inputs of tools need it.
 *
 * @param {SchemaObject} root
 * @returns {SchemaObject}
 */
export function withObjectType(root) {
  if (!fitsObjectsOnly(root, root, 8)) return root;
  const target = typeof root.$ref === "string" ? resolvePointer(root, root.$ref) : undefined;
  const { $ref, ...rest } = root;
  // Providers want the object itself at the top, not a reference to it.
  const top = isObject(target) && target !== root ? { ...target, ...rest } : root;
  for (const keyword of [...ALTERNATIVES, "allOf"]) {
    for (const branch of top[keyword] ?? []) {
      if (isObject(branch) && branch.type === undefined && branch.$ref === undefined) branch.type = "object";
    }
  }
  return { ...top, type: "object" };
}

/**
 * @param {SchemaObject} schema
 * @param {boolean} keepsPlaces references point into the schema, so nothing may move
 */
function presentBelow(schema, keepsPlaces) {
  delete schema[OPEN];
  delete schema[OMITTABLE];
  const keys = schema.propertyNames;
  delete schema.propertyNames;
  if (isObject(keys) && Array.isArray(keys.enum) && isObject(schema.additionalProperties) && !schema.properties) {
    const value = schema.additionalProperties;
    schema.properties = Object.fromEntries(keys.enum.map((key) => [String(key), structuredClone(value)]));
    if (!keepsPlaces) schema.additionalProperties = false;
  }
  for (const keyword of ALTERNATIVES) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    const possible = branches.filter((branch) => !isImpossible(branch));
    if (possible.length > 0 && possible.length < branches.length && !keepsPlaces) schema[keyword] = possible;
    for (const branch of possible) typeByValues(branch);
  }
  for (const child of subschemas(schema)) {
    if (isObject(child.schema)) presentBelow(child.schema, keepsPlaces);
  }
}

/** @param {unknown} branch */
function isImpossible(branch) {
  return (
    isObject(branch) && Object.keys(branch).length === 1 && isObject(branch.not) && Object.keys(branch.not).length === 0
  );
}

/** @param {unknown} branch */
function typeByValues(branch) {
  if (!isObject(branch) || branch.type !== undefined) return;
  const values = "const" in branch ? [branch.const] : branch.enum;
  if (!Array.isArray(values) || values.length === 0) return;
  const types = [
    ...new Set(values.map((value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value))),
  ];
  branch.type = types.length === 1 ? types[0] : types;
}

/**
 * @param {SchemaObject} root
 * @param {unknown} schema
 * @param {number} depthMax
 * @returns {boolean}
 */
function fitsObjectsOnly(root, schema, depthMax) {
  if (!isObject(schema) || depthMax === 0) return false;
  if (schema.type !== undefined) return [schema.type].flat().every((type) => type === "object");
  if (isObject(schema.properties)) return true;
  /** @param {unknown} child */
  const fits = (child) => fitsObjectsOnly(root, child, depthMax - 1);
  if (typeof schema.$ref === "string") return fits(resolvePointer(root, schema.$ref));
  if (Array.isArray(schema.allOf) && schema.allOf.some(fits)) return true;
  return ALTERNATIVES.some(
    (keyword) => Array.isArray(schema[keyword]) && schema[keyword].length > 0 && schema[keyword].every(fits),
  );
}
