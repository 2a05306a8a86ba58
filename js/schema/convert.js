/**
 * Standard Schemas to JSON Schema, input side: by the schema's own converter (`~standard.jsonSchema`), else by an
 * optional peer of its library.
 */

import { KeelError } from "../error.js";
import { convertArktype } from "./arktype.js";
import { convertValibot } from "./valibot.js";
import { convertZod3 } from "./zod-3.js";
import { convertZod4 } from "./zod-4.js";
import { resolvePointer, visitSchemas } from "./walk.js";

/**
 * @typedef {object} Converted
 * @property {{ [keyword: string]: any }} json with marks where the library takes more than JSON Schema says
 * @property {boolean} marked whether those marks could be made; if not, nothing but the top level is known
 */

/**
 * @typedef {(options?: object) => { [keyword: string]: any }} OwnConverter the schema's `~standard.jsonSchema.input`
 */

/**
 * @param {any} schema a Standard Schema
 * @param {string} where names the schema in messages
 * @returns {Converted}
 */
export function convert(schema, where) {
  const { vendor, jsonSchema } = schema["~standard"];
  /** @type {OwnConverter | undefined} */
  const own =
    typeof jsonSchema?.input === "function"
      ? (options) => jsonSchema.input({ target: "draft-2020-12", ...(options && { libraryOptions: options }) })
      : undefined;
  const converted = attempt(() => convertAs(schema, vendor, own), vendor, where);
  const { $schema, ...json } = JSON.parse(JSON.stringify(converted.json));
  visitSchemas(json, where, (place) => {
    // Some converters write references to places that do not exist; nothing is known about such a value.
    if (typeof place.$ref === "string" && resolvePointer(json, place.$ref) === undefined) delete place.$ref;
  });
  return { json, marked: converted.marked };
}

/**
 * @param {any} schema
 * @param {string} vendor
 * @param {OwnConverter | undefined} own
 * @returns {Converted}
 */
function convertAs(schema, vendor, own) {
  if (vendor === "zod" && "_zod" in schema) return convertZod4(schema, own);
  if (vendor === "zod" && schema._def?.typeName !== undefined && !own) return convertZod3(schema);
  if (vendor === "valibot") return convertValibot(schema, own);
  if (vendor === "arktype") return convertArktype(schema, own);
  // Our own schemas are as exact as their JSON Schemas.
  if (own) return { json: own(), marked: vendor === "keel-native" };
  throw new Error("it has no ~standard.jsonSchema; use a version of its library that has, or give a plain JSON Schema");
}

/**
 * @param {() => Converted} conversion
 * @param {string} vendor
 * @param {string} where
 */
function attempt(conversion, vendor, where) {
  try {
    return conversion();
  } catch (cause) {
    const reason =
      cause instanceof RangeError ? "it recurses without end" : String(/** @type {any} */ (cause)?.message ?? cause);
    throw new KeelError("SCHEMA_NOT_CONVERTIBLE", `${where}: the ${vendor} schema has no JSON Schema form: ${reason}`, {
      cause,
    });
  }
}
