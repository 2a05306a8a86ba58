/**
 * Agents: a model with its instructions, tools and budget. A definition never changes, so any number of turns may run
 * on one at once.
 */

import { KeelError } from "../error.js";
import { checkModel } from "../model/call-model.js";
import { checkGranted } from "./access.js";
import { checkBudget, checkLimits } from "./budget.js";
import { checkMiddleware } from "./define-middleware.js";
import {
  checkArray,
  checkId,
  checkOptions,
  checkStrings,
  checkType,
  freezeDefinition,
  isWellFormed,
  optionInvalid,
} from "./options.js";
import { checkPart, submitToolId } from "./part.js";
import { checkSource } from "./source.js";
import { isTool } from "./tool.js";

/** @import { ToolDefinition } from "./tool.js" */

/**
 * @typedef {object} AgentDefinition
 * @property {"agent"} kind
 * @property {string} id
 * @property {string} [description]
 * @property {any} model
 * @property {object} [modelOptions]
 * @property {string | ((context: any) => string | Promise<string>)} [instructions]
 * @property {readonly ToolDefinition[] | (() => readonly ToolDefinition[])} tools
 * @property {readonly import("./part.js").PartDefinition[]} emits
 * @property {readonly import("./source.js").SourceDefinition[]} reads
 * @property {readonly string[]} grants
 * @property {any} [budget]
 * @property {any} [limits]
 * @property {readonly any[]} middleware
 */

const OPTIONS = [
  "id",
  "model",
  "modelOptions",
  "instructions",
  "tools",
  "emits",
  "reads",
  "grants",
  "budget",
  "limits",
  "middleware",
  "description",
];

/** The lists that each definition has, whoever's copy of the package made it; `tools` may be a function. */
const LISTS = ["emits", "reads", "grants", "middleware"];

/** "run-" and an agent's id together are the id of the tool that asTool makes of it. */
const ID_LENGTH_MAX = 64 - "run-".length;

/** @type {WeakMap<object, readonly ToolDefinition[]>} tool lists that were given as functions */
const listed = new WeakMap();

/** @type {WeakSet<object>} agents whose connections were checked against the tools of their children */
const connected = new WeakSet();

/**
 * @param {any} options
 * @returns {any}
 */
export function defineAgent(options) {
  checkOptions(
    options,
    OPTIONS,
    typeof options?.id === "string" ? `agent ${JSON.stringify(options.id)}` : "defineAgent",
  );
  const id = checkId(options.id, "defineAgent: id", ID_LENGTH_MAX);
  const where = `agent "${id}"`;
  checkModel(options.model, where);
  const grants = checkStrings(options.grants, `${where}: grants`);
  /** @type {AgentDefinition} */
  const agent = {
    kind: "agent",
    id,
    description: checkType(options.description, "string", `${where}: description`),
    model: options.model,
    modelOptions: checkModelOptions(options.modelOptions, where),
    instructions: checkInstructions(options.instructions, where),
    tools: typeof options.tools === "function" ? options.tools : checkTools(options.tools, grants, where),
    emits: checkEmits(options.emits, where),
    reads: checkReads(options.reads, grants, where),
    grants,
    budget: checkBudget(options.budget, where),
    limits: checkLimits(options.limits, where),
    middleware: checkMiddleware(options.middleware, where),
  };
  return freezeDefinition(agent);
}

/**
 * An agent's tools, all checks done. A list given as a function is asked for once, at first use.
 *
 * @param {AgentDefinition} agent
 * @returns {readonly ToolDefinition[]}
 */
export function resolveTools(agent) {
  const tools = listTools(agent);
  if (connected.has(agent)) return tools;
  for (const tool of tools) {
    const { agent: child, contract } = tool.delegation ?? {};
    if (child && contract) checkSubmitToolFree(child, contract.part, `agent "${agent.id}": tool "${tool.id}"`);
  }
  connected.add(agent);
  return tools;
}

/**
 * Refuses a contract whose submit tool would have the id of one of the agent's own tools. While the agent's list is a
 * function that was not asked yet, this is left to `resolveTools`.
 *
 * @param {AgentDefinition} agent
 * @param {{ name: string }} part
 * @param {string} where
 * @param {readonly ToolDefinition[]} [tools]
 */
export function checkSubmitToolFree(agent, part, where, tools = listTools(agent)) {
  const id = submitToolId(part);
  if (!tools.some((tool) => tool.id === id)) return;
  throw new KeelError(
    "SUBMIT_TOOL_TAKEN",
    `${where}: expected agent "${agent.id}" to leave the tool id "${id}" to the contract on part "${part.name}", found a tool with that id`,
  );
}

/**
 * The tools of an agent as far as they are known without asking for them.
 *
 * @param {AgentDefinition} agent
 * @returns {readonly ToolDefinition[] | undefined}
 */
export function knownTools(agent) {
  return typeof agent.tools === "function" ? listed.get(agent) : agent.tools;
}

/**
 * @param {any} value
 * @param {string} where
 * @returns {AgentDefinition}
 */
export function checkAgent(value, where) {
  if (value?.kind === "agent" && typeof value.id === "string" && LISTS.every((name) => Array.isArray(value[name])))
    return value;
  throw optionInvalid(where, "an agent made with defineAgent", value);
}

/** @param {AgentDefinition} agent */
function listTools(agent) {
  const known = knownTools(agent);
  if (known) return known;
  const where = `agent "${agent.id}"`;
  const given = /** @type {() => any} */ (agent.tools)();
  if (!Array.isArray(given)) throw optionInvalid(`${where}: tools()`, "an array of tools", given);
  const tools = checkTools(given, agent.grants, where);
  listed.set(agent, tools);
  return tools;
}

/**
 * @param {any} given
 * @param {readonly string[]} grants
 * @param {string} where
 * @returns {readonly ToolDefinition[]}
 */
function checkTools(given, grants, where) {
  const tools = checkArray(given, `${where}: tools`);
  /** @type {Map<string, number>} */
  const taken = new Map();
  for (const [index, tool] of tools.entries()) {
    const place = `${where}: tools[${index}]`;
    if (tool === undefined) {
      throw optionInvalid(place, "a tool (is its module part of an import cycle? Then give tools as a function)", tool);
    }
    if (!isTool(tool)) throw optionInvalid(place, "a tool made with defineTool or asTool", tool);
    if (taken.has(tool.id)) {
      throw new KeelError(
        "TOOL_ID_TAKEN",
        `${place}: expected an id of its own, found "${tool.id}", which tools[${taken.get(tool.id)}] has`,
      );
    }
    taken.set(tool.id, index);
    checkGranted(tool.access, grants, `tool "${tool.id}"`, where);
  }
  return tools;
}

/**
 * @param {any} given
 * @param {string} where
 */
function checkEmits(given, where) {
  const parts = checkArray(given, `${where}: emits`);
  const names = new Set();
  for (const [index, part] of parts.entries()) {
    const { name } = checkPart(part, `${where}: emits[${index}]`);
    if (names.has(name))
      throw new KeelError(
        "PART_TAKEN",
        `${where}: emits[${index}]: expected parts of different names, found "${name}" again`,
      );
    names.add(name);
  }
  return parts;
}

/**
 * @param {any} given
 * @param {readonly string[]} grants
 * @param {string} where
 */
function checkReads(given, grants, where) {
  const sources = checkArray(given, `${where}: reads`);
  for (const [index, source] of sources.entries()) {
    const { id, access } = checkSource(source, `${where}: reads[${index}]`);
    checkGranted(access, grants, `source "${id}"`, where);
  }
  return sources;
}

/**
 * @param {any} given
 * @param {string} where
 */
function checkInstructions(given, where) {
  if (given === undefined || typeof given === "function" || (typeof given === "string" && isWellFormed(given)))
    return given;
  throw optionInvalid(`${where}: instructions`, "a string of whole characters or a function", given);
}

/**
 * @param {any} given
 * @param {string} where
 */
function checkModelOptions(given, where) {
  if (given === undefined) return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw optionInvalid(`${where}: modelOptions`, "an object", given);
  return Object.freeze({ ...given });
}
