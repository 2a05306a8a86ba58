/**
 * Zod 3 schemas through zod-to-json-schema.
 */

import { OPEN } from "./loosen.js";
import { loadPeer } from "./peer.js";
import { upgradeTuples } from "./upgrade-tuples.js";

/** Types whose values JSON does not have. */
const NOT_IN_JSON = new Set(["ZodBigInt", "ZodDate", "ZodFunction", "ZodMap", "ZodNaN", "ZodSet", "ZodSymbol"]);

/**
 * @param {any} schema
 * @returns {import("./convert.js").Converted}
 */
export function convertZod3(schema) {
  const peer = loadPeer("zod-to-json-schema");
  if (!peer) throw new Error('converting it needs the package "zod-to-json-schema" (npm install zod-to-json-schema)');
  let marked = false;
  /** @type {{ type: string, path: string }[]} */
  const missing = [];
  /** @type {string[]} */
  const preprocessed = [];
  const json = peer.zodToJsonSchema(schema, {
    target: "jsonSchema7",
    $refStrategy: "root",
    definitionPath: "$defs",
    pipeStrategy: "input",
    effectStrategy: "input",
    /** @param {any} json @param {any} def @param {{ currentPath: string[] }} refs */
    postProcess(json, def, refs) {
      marked = true;
      const path = refs.currentPath.join("/");
      if (isPreprocess(def)) preprocessed.push(path);
      if (NOT_IN_JSON.has(def.typeName) && !def.coerce) missing.push({ type: def.typeName, path });
      return json && isOpen(def) ? { ...json, [OPEN]: true } : json;
    },
  });
  const fault = missing.find(
    ({ path }) => !preprocessed.some((above) => path === above || path.startsWith(`${above}/`)),
  );
  if (fault) {
    const advice = fault.type === "ZodDate" ? " (z.coerce.date() takes a date as text)" : "";
    throw new Error(`JSON has no value for ${fault.type} at ${fault.path}${advice}`);
  }
  return { json: upgradeTuples(json), marked };
}

/** @param {any} def */
function isPreprocess(def) {
  return def.typeName === "ZodEffects" && def.effect.type === "preprocess";
}

/**
 * Where zod takes inputs that the JSON Schema does not describe. Unions and nullables of simple types are written in
 * one go, so their parts are looked at from here.
 *
 * @param {any} def
 * @returns {boolean}
 */
function isOpen(def) {
  if (def.coerce === true || isPreprocess(def)) return true;
  if (def.typeName === "ZodUnion") return def.options.some((/** @type {any} */ option) => isOpen(option._def));
  if (def.typeName === "ZodNullable") return isOpen(def.innerType._def);
  return ["ZodAny", "ZodCatch", "ZodPromise", "ZodUnknown"].includes(def.typeName);
}
