/**
 * Zod 4 schemas (also `zod/mini`, and `zod/v4` of zod 3.25) through zod's own converter.
 */

import { OMITTABLE, OPEN } from "./loosen.js";
import { loadPeer } from "./peer.js";

/** @typedef {{ zodSchema: any, jsonSchema: { [keyword: string]: any }, path?: (string | number)[] }} Place */

/** Types whose values JSON does not have. */
const NOT_IN_JSON = new Set([
  "bigint",
  "custom",
  "date",
  "file",
  "function",
  "map",
  "nan",
  "set",
  "symbol",
  "transform",
]);

/** Types that refuse `undefined`, so that an object's property of this type is really required. */
const REFUSE_UNDEFINED = new Set([
  "array",
  "boolean",
  "enum",
  "null",
  "number",
  "object",
  "record",
  "string",
  "template_literal",
  "tuple",
]);

/**
 * @param {any} schema
 * @param {import("./convert.js").OwnConverter | undefined} own
 * @returns {import("./convert.js").Converted}
 */
export function convertZod4(schema, own) {
  const notes = new Notes();
  const options = { io: "input", unrepresentable: "any", override: (/** @type {Place} */ place) => notes.take(place) };
  const json = own ? own(options) : convertByPeer(schema, options);
  const fault = notes.fault();
  if (fault !== undefined) throw new Error(fault);
  return { json, marked: notes.taken };
}

/**
 * @param {any} schema
 * @param {object} options
 */
function convertByPeer(schema, options) {
  const core = loadPeer("zod/v4/core");
  if (!core) throw new Error('converting it needs the package "zod" (npm install zod)');
  // Descriptions live in a registry of the copy of zod that made the schema, which need not be the one loaded here.
  const metadata = {
    get: (/** @type {any} */ place) => place.meta?.() ?? core.globalRegistry.get(place),
    has: (/** @type {any} */ place) => metadata.get(place) !== undefined,
  };
  return core.toJSONSchema(schema, { ...options, metadata });
}

/** What zod's converter showed of each place in a schema. */
class Notes {
  taken = false;
  /** @type {{ type: string, path: string }[]} */
  #missing = [];
  /** @type {string[]} */
  #preprocessed = [];

  /** @param {Place} place */
  take({ zodSchema, jsonSchema, path = [] }) {
    this.taken = true;
    const { def } = zodSchema._zod;
    const here = `/${path.join("/")}`;
    if (isPreprocess(def)) this.#preprocessed.push(here);
    if (isOpen(def)) jsonSchema[OPEN] = true;
    if (def.type === "undefined" || def.type === "void") jsonSchema.not = {};
    if (def.type === "date") Object.assign(jsonSchema, { type: "string", format: "date-time" });
    if (def.type === "bigint" && def.coerce) jsonSchema.type = "integer";
    if (NOT_IN_JSON.has(def.type) && !def.coerce) this.#missing.push({ type: def.type, path: here });
    if (!Array.isArray(jsonSchema.required)) return;
    if (def.type === "record") jsonSchema[OMITTABLE] = jsonSchema.required;
    if (def.type === "object")
      jsonSchema[OMITTABLE] = jsonSchema.required.filter((name) => !refusesUndefined(def.shape[name]));
  }

  /** Why no JSON value could ever fit; undefined when one can. */
  fault() {
    const missing = this.#missing.find(({ path }) => !this.#preprocessed.some((above) => isWithin(path, above)));
    if (missing === undefined) return undefined;
    const advice = missing.type === "date" ? " (z.coerce.date() or z.iso.datetime() take a date as text)" : "";
    return `JSON has no value for z.${missing.type}() at ${missing.path}${advice}`;
  }
}

/** @param {any} def */
function isPreprocess(def) {
  return def.type === "pipe" && def.in._zod.def.type === "transform";
}

/**
 * Where zod takes inputs that its JSON Schema does not describe.
 *
 * @param {any} def
 */
function isOpen(def) {
  if (def.coerce === true || isPreprocess(def)) return true;
  if (def.type === "literal")
    return def.values.some((/** @type {unknown} */ value) => typeof value === "bigint" || value === undefined);
  return ["any", "catch", "custom", "promise", "success", "unknown"].includes(def.type);
}

/**
 * @param {any} schema
 * @returns {boolean}
 */
function refusesUndefined(schema) {
  const { def } = schema._zod;
  if (def.coerce === true) return false;
  if (REFUSE_UNDEFINED.has(def.type)) return true;
  if (def.type === "literal") return !def.values.includes(undefined);
  if (def.type === "nullable" || def.type === "readonly") return refusesUndefined(def.innerType);
  if (def.type === "pipe") return !isPreprocess(def) && refusesUndefined(def.in);
  if (def.type === "union") return def.options.every(refusesUndefined);
  return false;
}

/**
 * @param {string} path
 * @param {string} above
 */
function isWithin(path, above) {
  return above === "/" || path === above || path.startsWith(`${above}/`);
}
