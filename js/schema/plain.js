/**
 * Plain JSON Schemas: what is checked before the core compiles one.
 */

import { describe } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { IN_PLACE, isObject, resolvePointer, subschemas, visitSchemas } from "./walk.js";

/**
 * A copy of a JSON Schema as JSON sees it, so that later changes to the given object change nothing here.
 *
 * @param {object} given
 * @param {string} where names the schema in messages
 * @returns {{ [keyword: string]: any }}
 */
export function copyPlainSchema(given, where) {
  const json = copyJson(given, where);
  visitSchemas(json, where, (schema, path) => {
    for (const keyword of ["$ref", "$dynamicRef"]) {
      const ref = schema[keyword];
      if (ref === undefined || (typeof ref === "string" && ref.startsWith("#"))) continue;
      throw new KeelError(
        "SCHEMA_INVALID",
        `${where}: expected ${keyword} at ${at(path)} to stay inside the schema ("#…"), found ${describe(ref)}`,
      );
    }
  });
  visitSchemas(json, where, (schema, path) => refuseEndless(json, schema, path, where));
  return json;
}

/**
 * @param {readonly string[]} path
 */
function at(path) {
  return path.length === 0 ? "its root" : `/${path.join("/")}`;
}

/**
 * @param {object} given
 * @param {string} where
 */
function copyJson(given, where) {
  try {
    const json = JSON.parse(JSON.stringify(given));
    if (isObject(json)) return json;
  } catch (cause) {
    const found = cause instanceof RangeError ? "it is nested too deeply" : /** @type {Error} */ (cause).message;
    throw new KeelError("SCHEMA_INVALID", `${where}: expected a schema that JSON can carry, but ${found}`, { cause });
  }
  throw new KeelError("SCHEMA_INVALID", `${where}: expected a JSON Schema object, found ${describe(given)}`);
}

/**
 * Refuses a schema that comes back to itself without going into the value: checking any value would never end.
 *
 * @param {{ [keyword: string]: any }} root
 * @param {{ [keyword: string]: any }} start
 * @param {string[]} path
 * @param {string} where
 */
function refuseEndless(root, start, path, where) {
  if (start.$ref === undefined) return;
  const seen = new Set();
  const pending = [start];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    for (const next of inPlace(root, schema)) {
      if (next === start) {
        throw new KeelError("SCHEMA_INVALID", `${where}: the $ref at ${at(path)} comes back to itself without end`);
      }
      if (!seen.has(next)) pending.push(next);
      seen.add(next);
    }
  }
}

/**
 * @param {{ [keyword: string]: any }} root
 * @param {{ [keyword: string]: any }} schema
 */
function inPlace(root, schema) {
  const targets = subschemas(schema).flatMap((child) => (IN_PLACE.includes(child.keyword) ? [child.schema] : []));
  if (typeof schema.$ref === "string") targets.push(resolvePointer(root, schema.$ref) ?? true);
  return targets.filter(isObject);
}
