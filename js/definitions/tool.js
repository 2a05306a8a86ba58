/**
 * Tools: what a model may call. Everything that can be wrong with a tool is found here, where it is defined.
 */

import { KeelError } from "../error.js";
import { compile, toInputSchema, toSchema, withoutProperties } from "../schema/to-schema.js";
import { checkAccess } from "./access.js";
import {
  checkArray,
  checkChoice,
  checkCount,
  checkId,
  checkOptions,
  checkType,
  freezeDefinition,
  isWellFormed,
  optionInvalid,
} from "./options.js";

/** @import { Schema } from "../schema/to-schema.js" */

/**
 * @typedef {object} ToolDefinition
 * @property {"tool"} kind
 * @property {string} id
 * @property {string} [description]
 * @property {Schema} input
 * @property {Schema} [output]
 * @property {import("./access.js").AccessRule} access
 * @property {(input: any, context: any) => unknown} [execute]
 * @property {boolean} external
 * @property {"none" | "required"} approval
 * @property {"direct" | "deferred" | "hidden"} exposure
 * @property {"exclusive" | "shared" | ((input: any) => "exclusive" | "shared")} [concurrency]
 * @property {"never" | "safe"} replay
 * @property {number | "unbounded"} [timeoutMs]
 * @property {{ readonly [effect: string]: boolean | string }} [effects]
 * @property {readonly { readonly name: string, readonly from: "host" | "toolCallId" }[]} injects
 * @property {number} [maxUses]
 * @property {boolean} [exposeErrors]
 * @property {import("./as-tool.js").Delegation} [delegation]
 */

const OPTIONS = [
  "id",
  "description",
  "input",
  "inputSchema",
  "output",
  "access",
  "execute",
  "external",
  "approval",
  "exposure",
  "concurrency",
  "replay",
  "timeoutMs",
  "effects",
  "injects",
  "maxUses",
  "exposeErrors",
];

const EFFECTS = [
  "readOnly",
  "writesFiles",
  "network",
  "installsDependencies",
  "destructive",
  "externalService",
  "payment",
];

/** @type {WeakMap<object, Schema>} */
const offered = new WeakMap();

/**
 * @param {any} options
 * @returns {any}
 */
export function defineTool(options) {
  checkOptions(options, OPTIONS, nameOf(options));
  const id = checkId(options.id, "defineTool: id");
  const where = `tool "${id}"`;
  const access = checkAccess(options.access, where);
  const input = checkInput(options, where);
  const output = options.output === undefined ? undefined : toSchema(options.output, `${where}: output`);
  if (output) compile(output, `${where}: output`);
  const external = checkType(options.external, "boolean", `${where}: external`) ?? false;
  /** @type {ToolDefinition} */
  const tool = {
    kind: "tool",
    id,
    description: checkType(options.description, "string", `${where}: description`),
    input,
    output,
    access,
    execute: checkExecute(options.execute, external, where),
    external,
    approval: checkChoice(options.approval, ["none", "required"], `${where}: approval`) ?? "none",
    exposure: checkChoice(options.exposure, ["direct", "deferred", "hidden"], `${where}: exposure`) ?? "direct",
    concurrency: checkConcurrency(options.concurrency, where),
    replay: checkChoice(options.replay, ["never", "safe"], `${where}: replay`) ?? "never",
    timeoutMs: checkTimeout(options.timeoutMs, where),
    effects: checkEffects(options.effects, where),
    injects: checkInjects(options.injects, where),
    maxUses: checkCount(options.maxUses, `${where}: maxUses`, 1),
    exposeErrors: checkType(options.exposeErrors, "boolean", `${where}: exposeErrors`),
  };
  const definition = freezeDefinition(tool);
  compile(offeredInput(definition), `${where}: input`);
  return definition;
}

/**
 * The input schema as a caller sees it: without the properties that the host fills in.
 *
 * @param {{ input: Schema, injects: readonly { name: string }[] }} tool
 * @returns {Schema}
 */
export function offeredInput(tool) {
  if (tool.injects.length === 0) return tool.input;
  let schema = offered.get(tool);
  if (schema === undefined) {
    schema = withoutProperties(
      tool.input,
      tool.injects.map(({ name }) => name),
    );
    offered.set(tool, schema);
  }
  return schema;
}

/**
 * @param {any} value
 * @returns {value is ToolDefinition}
 */
export function isTool(value) {
  if (value?.kind !== "tool" || typeof value.id !== "string" || !Array.isArray(value.injects)) return false;
  return typeof value.input?.checkText === "string";
}

/**
 * @param {"exclusive" | "shared" | Function | undefined} concurrency
 * @param {string} where
 */
export function checkConcurrency(concurrency, where) {
  if (typeof concurrency === "function") return /** @type {ToolDefinition["concurrency"]} */ (concurrency);
  return checkChoice(concurrency, ["exclusive", "shared"], `${where}: concurrency`);
}

/** @param {any} options */
function nameOf(options) {
  return typeof options?.id === "string" ? `tool ${JSON.stringify(options.id)}` : "defineTool";
}

/**
 * @param {any} options
 * @param {string} where
 */
function checkInput({ input, inputSchema }, where) {
  if (input !== undefined && inputSchema !== undefined) {
    throw new KeelError("OPTION_INVALID", `${where}: expected either input or its alias inputSchema, found both`);
  }
  const schema = toInputSchema(input ?? inputSchema, `${where}: input`);
  compile(schema, `${where}: input`);
  return schema;
}

/**
 * @param {any} execute
 * @param {boolean} external
 * @param {string} where
 */
function checkExecute(execute, external, where) {
  if (external && execute !== undefined) {
    throw optionInvalid(`${where}: execute`, "none, since external tools are executed by the host", execute);
  }
  if (!external && typeof execute !== "function")
    throw optionInvalid(`${where}: execute`, "a function (or external: true)", execute);
  return execute;
}

/**
 * @param {any} timeoutMs
 * @param {string} where
 */
function checkTimeout(timeoutMs, where) {
  if (timeoutMs === undefined || timeoutMs === "unbounded") return timeoutMs;
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0) return timeoutMs;
  throw optionInvalid(`${where}: timeoutMs`, 'a positive whole number or "unbounded"', timeoutMs);
}

/**
 * @param {any} effects
 * @param {string} where
 */
function checkEffects(effects, where) {
  if (effects === undefined) return undefined;
  checkOptions(effects, [...EFFECTS, "sandbox"], `${where}: effects`);
  for (const name of EFFECTS) checkType(effects[name], "boolean", `${where}: effects.${name}`);
  checkChoice(effects.sandbox, ["inherit", "disabled", "required"], `${where}: effects.sandbox`);
  return freezeDefinition({ ...effects });
}

/**
 * @param {any} injects
 * @param {string} where
 */
function checkInjects(injects, where) {
  const names = new Set();
  const checked = checkArray(injects, `${where}: injects`).map((given, index) => {
    const place = `${where}: injects[${index}]`;
    checkOptions(given, ["name", "from"], place);
    if (typeof given.name !== "string" || given.name === "" || !isWellFormed(given.name))
      throw optionInvalid(`${place}.name`, "a property name", given.name);
    if (names.has(given.name)) throw optionInvalid(`${place}.name`, "a name that is not injected already", given.name);
    if (given.from === undefined) throw optionInvalid(`${place}.from`, '"host" or "toolCallId"', given.from);
    checkChoice(given.from, ["host", "toolCallId"], `${place}.from`);
    names.add(given.name);
    return Object.freeze({ name: given.name, from: given.from });
  });
  return Object.freeze(checked);
}
