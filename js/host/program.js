/**
 * Definitions → the program that the kernel runs: every agent that can be reached from a root agent, each once, with its
 * tools, parts and schemas by position. Made at an agent's first run and kept as long as the agent.
 */

import { native } from "../binding/native.js";
import { resolveTools } from "../definitions/agent.js";
import { submitSchema, submitToolId } from "../definitions/part.js";
import { hookFlags } from "../definitions/define-middleware.js";
import { compile } from "../schema/to-schema.js";
import { offeredInput } from "../definitions/tool.js";

/**
 * @typedef {object} AgentProgram what the host looks up by the kernel's positions
 * @property {any} definition
 * @property {object} instructions as a message, where they are a plain text
 * @property {number[]} listed positions of the tools that models are told of
 * @property {any} allOffers what a turn is offered that may use them all, once made
 * @property {ToolProgram[]} tools
 * @property {Map<string, ToolProgram>} toolsById
 * @property {{ definition: any, offer: any }[]} emits `offer` is the part's submit tool
 * @property {Map<string, { all: readonly any[], submit: readonly any[], nothing: readonly any[], detached: any[] }>} offers made so far
 */

/**
 * @typedef {object} ToolProgram
 * @property {number} index its position
 * @property {any} definition
 * @property {any} offer
 * @property {boolean} checkedAhead its arguments are checked together with the call
 */

/**
 * @typedef {object} Program
 * @property {any} native
 * @property {AgentProgram[]} agents
 * @property {boolean} needsPrice some budget among them is in money
 */

/** @type {WeakMap<object, Program>} */
const programs = new WeakMap();

/**
 * @param {any} root
 * @returns {Program}
 */
export function programOf(root) {
  let program = programs.get(root);
  if (program === undefined) {
    program = build(reachable(root));
    programs.set(root, program);
  }
  return program;
}

/**
 * The agents that can be reached, the root first.
 *
 * @param {any} root
 */
export function reachable(root) {
  const agents = [root];
  for (const agent of agents) {
    for (const { delegation } of resolveTools(agent)) {
      if (delegation && !agents.includes(delegation.agent)) agents.push(delegation.agent);
    }
  }
  return agents;
}

/**
 * @param {any[]} agents
 * @returns {Program}
 */
function build(agents) {
  /** @type {any[]} */
  const schemas = [];
  /** @param {any} schema */
  const place = (schema) => schemas.push(compile(schema)) - 1;
  const specs = agents.map((agent) => agentSpec(agent, agents, place));
  return {
    native: new native.Program(JSON.stringify(specs), schemas),
    agents: agents.map(agentProgram),
    needsPrice: agents.some(spendsMoney),
  };
}

/** @param {any} agent */
function spendsMoney(agent) {
  const spenders = [agent, ...resolveTools(agent).flatMap(({ delegation }) => delegation ?? [])];
  return spenders.some(({ budget, limits }) => budget?.costUsd !== undefined || limits?.tree?.costUsd !== undefined);
}

/**
 * @param {any} agent
 * @returns {AgentProgram}
 */
function agentProgram(agent) {
  const tools = resolveTools(agent).map(toolProgram);
  return {
    definition: agent,
    instructions: Object.freeze({ role: "system", content: agent.instructions }),
    listed: tools.flatMap(({ definition }, index) => (definition.exposure === "direct" ? [index] : [])),
    allOffers: undefined,
    offers: new Map(),
    tools,
    toolsById: new Map(tools.map((tool) => [tool.definition.id, tool])),
    emits: agent.emits.map((/** @type {any} */ part) => ({
      definition: part,
      offer: offerOf(
        submitToolId(part),
        part.description ?? `Delivers the ${part.name}.`,
        submitSchema(part).schema.json,
      ),
    })),
  };
}

/**
 * @param {any} tool
 * @param {number} index
 * @returns {ToolProgram}
 */
function toolProgram(tool, index) {
  return {
    index,
    definition: tool,
    offer: offerOf(tool.id, tool.description, offeredInput(tool).json),
    // Arguments that the host injects are not there yet when a call is made, and a `concurrency` function over a plain JSON
    // Schema is to see what the kernel has checked. Nobody can call a hidden tool.
    checkedAhead: tool.input.standard !== undefined && tool.injects.length === 0 && tool.exposure !== "hidden",
  };
}

/**
 * The host looks at the arguments, too.
 *
 * @param {any} tool
 */
function prepares(tool) {
  return tool.input.standard !== undefined || typeof tool.concurrency === "function";
}

/**
 * A tool as models are told of it.
 *
 * @param {string} name
 * @param {string | undefined} description
 * @param {any} inputSchema
 */
function offerOf(name, description, inputSchema) {
  return Object.freeze({ type: "function", name, ...(description !== undefined && { description }), inputSchema });
}

/**
 * @param {any} agent
 * @param {any[]} agents
 * @param {(schema: any) => number} place
 */
function agentSpec(agent, agents, place) {
  return {
    id: agent.id,
    instructions: typeof agent.instructions === "string" && agent.instructions !== "" ? agent.instructions : null,
    prepares: typeof agent.instructions === "function" || agent.reads.length > 0,
    tools: resolveTools(agent).map((tool) => toolSpec(tool, agents, place)),
    emits: agent.emits.map((/** @type {any} */ part) => partSpec(part, place)),
    reads: agent.reads.map((/** @type {any} */ source) => ({ id: source.id, access: accessSpec(source.access) })),
    grants: agent.grants,
    budget: agent.budget ?? {},
    limits: agent.limits ?? {},
    hooks: hookFlags(agent.middleware),
  };
}

/**
 * @param {any} part
 * @param {(schema: any) => number} place
 */
function partSpec(part, place) {
  return {
    name: part.name,
    schema: place(part.schema),
    standard: part.schema.standard !== undefined,
    wrapped: submitSchema(part).wrapped,
    persist: part.persist,
  };
}

/**
 * @param {any} tool
 * @param {any[]} agents
 * @param {(schema: any) => number} place
 */
function toolSpec(tool, agents, place) {
  const { concurrency } = tool;
  return {
    id: tool.id,
    schema: place(offeredInput(tool)),
    prepares: prepares(tool),
    access: accessSpec(tool.access),
    exposure: tool.exposure,
    concurrency: typeof concurrency === "function" ? "dynamic" : (concurrency ?? "unset"),
    timeoutMs: tool.timeoutMs ?? null,
    maxUses: tool.maxUses ?? null,
    exposeErrors: tool.exposeErrors ?? null,
    delegation: tool.delegation ? delegationSpec(tool.delegation, agents) : null,
    external: tool.external,
    approvalRequired: tool.approval === "required",
    replaySafe: tool.replay === "safe",
    injects: tool.injects,
  };
}

/**
 * @param {any} delegation
 * @param {any[]} agents
 */
function delegationSpec(delegation, agents) {
  const { agent, contract } = delegation;
  return {
    agent: agents.indexOf(agent),
    budget: delegation.budget ?? {},
    limits: delegation.limits ?? {},
    contract: contract ? contractSpec(agent, contract) : null,
    retries: delegation.retries,
    onError: delegation.onError,
    forward: {
      progress: delegation.forward.progress,
      parts: delegation.forward.parts.map((/** @type {any} */ part) => part.name),
    },
    narrow: delegation.narrow?.scopes ?? null,
    briefs: delegation.brief !== undefined,
  };
}

/**
 * @param {any} agent
 * @param {{ part: any, nudges: number }} contract
 */
export function contractSpec(agent, { part, nudges }) {
  return { part: agent.emits.indexOf(part), nudges };
}

/** @param {any} access */
function accessSpec(access) {
  if (typeof access === "function") return { type: "predicate" };
  if (typeof access === "object") return { type: "scopes", scopes: access.scopes };
  return { type: access };
}
