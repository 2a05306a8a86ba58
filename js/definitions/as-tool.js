/**
 * asTool: an agent as a tool of another one. A call to it opens a child turn.
 */

import { KeelError } from "../error.js";
import { compile, toInputSchema } from "../schema/to-schema.js";
import { checkAccess } from "./access.js";
import { checkAgent } from "./agent.js";
import { checkBudget, checkLimits } from "./budget.js";
import { contractFor } from "./contract.js";
import {
  checkArray,
  checkChoice,
  checkCount,
  checkId,
  checkOptions,
  checkStrings,
  checkType,
  freezeDefinition,
  optionInvalid,
} from "./options.js";
import { checkPart } from "./part.js";
import { checkConcurrency } from "./tool.js";

/** @import { AgentDefinition } from "./agent.js" */
/** @import { ToolDefinition } from "./tool.js" */

/**
 * @typedef {object} Delegation
 * @property {AgentDefinition} agent
 * @property {(input: any) => string} [brief]
 * @property {any} [budget]
 * @property {any} [limits]
 * @property {import("./contract.js").Contract} [contract]
 * @property {number} retries
 * @property {"feedback" | "fail"} onError
 * @property {{ readonly progress: boolean, readonly parts: readonly import("./part.js").PartDefinition[] }} forward
 * @property {{ readonly scopes: readonly string[] }} [narrow]
 */

const OPTIONS = [
  "id",
  "description",
  "input",
  "brief",
  "budget",
  "limits",
  "deliverable",
  "retries",
  "onError",
  "access",
  "forward",
  "narrow",
  "concurrency",
];

/** What `z.object({ brief: z.string() })` is, without zod: unknown keys are dropped. */
const BRIEF = Object.freeze({
  "~standard": Object.freeze({
    version: 1,
    vendor: "keel-native",
    /** @param {any} input */
    validate(input) {
      if (typeof input !== "object" || input === null || Array.isArray(input))
        return { issues: [{ message: "expected an object" }] };
      if (typeof input.brief !== "string") return { issues: [{ message: "expected a string", path: ["brief"] }] };
      return { value: { brief: input.brief } };
    },
    jsonSchema: Object.freeze({ input: briefJsonSchema, output: briefJsonSchema }),
  }),
});

/**
 * @param {any} agent
 * @param {any} [options]
 * @returns {any}
 */
export function asTool(agent, options = {}) {
  checkAgent(agent, "asTool");
  const where = `asTool of agent "${agent.id}"`;
  checkOptions(options, OPTIONS, where);
  const input = toInputSchema(options.input === undefined ? BRIEF : options.input, `${where}: input`);
  compile(input, `${where}: input`);
  /** @type {ToolDefinition} */
  const tool = {
    kind: "tool",
    id: options.id === undefined ? `run-${agent.id}` : checkId(options.id, `${where}: id`),
    description: checkType(options.description, "string", `${where}: description`) ?? agent.description,
    input,
    access: checkAccess(options.access === undefined ? "public" : options.access, where),
    external: false,
    approval: "none",
    exposure: "direct",
    concurrency: checkConcurrency(options.concurrency, where) ?? "shared",
    replay: "never",
    injects: Object.freeze([]),
    delegation: delegationTo(agent, options, where),
  };
  return freezeDefinition(tool);
}

/**
 * @param {AgentDefinition} agent
 * @param {any} options
 * @param {string} where
 * @returns {Delegation}
 */
function delegationTo(agent, options, where) {
  return freezeDefinition({
    agent,
    brief: checkType(options.brief, "function", `${where}: brief`),
    budget: checkBudget(options.budget, where),
    limits: checkLimits(options.limits, where),
    contract: options.deliverable === undefined ? undefined : contractFor(agent, options.deliverable, where),
    retries: checkCount(options.retries, `${where}: retries`) ?? 0,
    onError: checkChoice(options.onError, ["feedback", "fail"], `${where}: onError`) ?? "feedback",
    forward: checkForward(agent, options.forward, where),
    narrow: checkNarrow(options.narrow, where),
  });
}

/**
 * @param {AgentDefinition} agent
 * @param {any} forward
 * @param {string} where
 */
function checkForward(agent, forward = {}, where) {
  checkOptions(forward, ["progress", "parts"], `${where}: forward`);
  const parts = checkArray(forward.parts, `${where}: forward.parts`);
  for (const [index, part] of parts.entries()) {
    const place = `${where}: forward.parts[${index}]`;
    checkPart(part, place);
    if (agent.emits.includes(part)) continue;
    const names = agent.emits.map(({ name }) => `"${name}"`).join(", ") || "none";
    throw new KeelError(
      "PART_NOT_EMITTED",
      `${place}: expected a part that agent "${agent.id}" emits (${names}), found "${part.name}"`,
    );
  }
  return Object.freeze({
    progress: checkType(forward.progress, "boolean", `${where}: forward.progress`) ?? false,
    parts,
  });
}

/**
 * @param {any} narrow
 * @param {string} where
 */
function checkNarrow(narrow, where) {
  if (narrow === undefined) return undefined;
  checkOptions(narrow, ["scopes"], `${where}: narrow`);
  if (narrow.scopes === undefined) throw optionInvalid(`${where}: narrow.scopes`, "an array", narrow.scopes);
  return Object.freeze({ scopes: checkStrings(narrow.scopes, `${where}: narrow.scopes`) });
}

function briefJsonSchema() {
  return {
    type: "object",
    properties: { brief: { type: "string" } },
    required: ["brief"],
    additionalProperties: false,
  };
}
