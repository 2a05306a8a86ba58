import { defineMiddleware } from "../definitions/define-middleware.js";
import {
  checkArray,
  checkChoice,
  checkOptions,
  checkStrings,
  checkType,
  optionInvalid,
} from "../definitions/options.js";
import { KeelError } from "../error.js";
import { offerOnly } from "./tool-allowlist.js";

/** What a tool may do to the world; `readOnly` is no side effect. */
export const SIDE_EFFECTS = [
  "writesFiles",
  "network",
  "installsDependencies",
  "destructive",
  "externalService",
  "payment",
];

const ENTRY = ["readOnly", ...SIDE_EFFECTS, "sandbox", "approval", "backgroundSafe"];

/**
 * Judges every call, model-issued or nested, by what is declared of its tool. Permissive unless told otherwise.
 *
 * @param {Record<string, any>} policies by tool id: effects, `sandbox`, `approval`, `backgroundSafe`
 * @param {any} [options]
 */
export function toolPolicy(policies, options = {}) {
  const entries = checkPolicies(policies, "toolPolicy");
  const rules = checkRules(options);

  /** @param {any} context @param {{ toolId: string }} call */
  const check = (context, { toolId }) => {
    const fault = faultOf(entries.get(toolId), toolId, rules, context.workspace);
    if (fault) throw new KeelError("VALIDATION", `tool \`${toolId}\` ${fault}`);
  };
  return defineMiddleware({
    name: "toolPolicy",
    beforeTool: check,
    checkNestedTool: check,
    beforeModel: (/** @type {any} */ { workspace }, /** @type {any} */ request) =>
      offerOnly(request, (id) => faultOf(entries.get(id), id, rules, workspace) === undefined),
  });
}

/**
 * @param {any} policy
 * @param {string} toolId
 * @param {any} rules
 * @param {any} workspace
 * @returns {string | undefined}
 */
function faultOf(policy, toolId, rules, workspace) {
  if (policy === undefined) return rules.classified ? "has no declared policy" : undefined;
  if (rules.classified && !isClassified(policy)) return "is unclassified";
  if (rules.deny.some((/** @type {string} */ effect) => policy[effect] === true))
    return "declares a denied side effect";
  if (rules.backgroundSafe && policy.backgroundSafe !== true) return "is not safe to run in the background";
  if (rules.granted && policy.approval === "required" && !rules.granted.includes(toolId))
    return "requires approval that was not granted";
  if (rules.sandbox && policy.sandbox === "required" && workspace?.sandbox !== "required")
    return "requires a sandbox but the run has none";
  return undefined;
}

/**
 * Something is said about what the tool does.
 *
 * @param {any} policy
 */
export function isClassified(policy) {
  return ["readOnly", ...SIDE_EFFECTS].some((effect) => policy[effect] !== undefined);
}

/**
 * @param {any} policies
 * @param {string} where
 * @returns {Map<string, any>}
 */
export function checkPolicies(policies, where) {
  if (
    typeof policies !== "object" ||
    policies === null ||
    Array.isArray(policies) ||
    typeof policies.then === "function"
  ) {
    throw optionInvalid(`${where}: policies`, "an object of policies by tool id", policies);
  }
  for (const [id, policy] of Object.entries(policies)) {
    const place = `${where}: policies.${id}`;
    checkOptions(policy, ENTRY, place);
    for (const name of ["readOnly", ...SIDE_EFFECTS, "backgroundSafe"])
      checkType(policy[name], "boolean", `${place}.${name}`);
    checkChoice(policy.sandbox, ["inherit", "disabled", "required"], `${place}.sandbox`);
    checkChoice(policy.approval, ["none", "required"], `${place}.approval`);
  }
  return new Map(Object.entries(policies));
}

/** @param {any} options */
function checkRules(options) {
  const where = "toolPolicy";
  checkOptions(options, ["strict", "deny", "requireApproval", "requireSandbox", "requireBackgroundSafe"], where);
  const strict = checkType(options.strict, "boolean", `${where}: strict`) ?? false;
  const deny = checkArray(options.deny, `${where}: deny`);
  for (const [index, effect] of deny.entries()) checkChoice(effect ?? null, SIDE_EFFECTS, `${where}: deny[${index}]`);
  return {
    classified: strict,
    deny: strict ? [...deny, "destructive", "payment"] : deny,
    granted:
      options.requireApproval === undefined
        ? undefined
        : checkStrings(options.requireApproval, `${where}: requireApproval`),
    sandbox: checkType(options.requireSandbox, "boolean", `${where}: requireSandbox`) ?? false,
    backgroundSafe: checkType(options.requireBackgroundSafe, "boolean", `${where}: requireBackgroundSafe`) ?? false,
  };
}
