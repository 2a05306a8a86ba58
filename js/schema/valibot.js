/**
 * Valibot schemas through @valibot/to-json-schema.
 */

import { OPEN } from "./loosen.js";
import { loadPeer } from "./peer.js";
import { upgradeTuples } from "./upgrade-tuples.js";

/** @typedef {{ valibotSchema: any, jsonSchema: { [keyword: string]: any }, errors?: unknown }} Place */

const OPTIONS = {
  typeMode: "input",
  target: "draft-2020-12",
  errorMode: "throw",
  // A check that JSON Schema cannot express is valibot's alone: it sees every value.
  overrideAction: (/** @type {Place} */ { jsonSchema, errors }) => (errors ? jsonSchema : undefined),
  overrideSchema: (/** @type {Place} */ { valibotSchema, jsonSchema, errors }) =>
    errors && valibotSchema.type === "record" ? jsonSchema : undefined,
};

/**
 * @param {any} schema
 * @param {import("./convert.js").OwnConverter | undefined} own
 * @returns {import("./convert.js").Converted}
 */
export function convertValibot(schema, own) {
  const peer = own ? undefined : loadPeer("@valibot/to-json-schema");
  if (!own && !peer)
    throw new Error('converting it needs the package "@valibot/to-json-schema" (npm install @valibot/to-json-schema)');
  const json = upgradeTuples(own ? own(OPTIONS) : peer.toJsonSchema(schema, OPTIONS));
  const isInspectable = schema.kind === "schema";
  // A fallback takes any input at its place, and the converter does not show where those are.
  if (isInspectable && schema.fallback !== undefined) json[OPEN] = true;
  return { json, marked: isInspectable && !hasFallback(schema, new Set()) };
}

/**
 * @param {any} value a schema or a part of one
 * @param {Set<unknown>} seen
 * @returns {boolean}
 */
function hasFallback(value, seen) {
  if (typeof value !== "object" || value === null || seen.has(value)) return false;
  seen.add(value);
  if (value.kind === "schema" && "fallback" in value) return true;
  if (value.type === "lazy" && hasFallback(value.getter(undefined), seen)) return true;
  return Object.values(value).some((part) => hasFallback(part, seen));
}
