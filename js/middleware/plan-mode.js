import { defineMiddleware } from "../definitions/define-middleware.js";
import { checkOptions, checkStrings, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { checkPolicies, isClassified, SIDE_EFFECTS } from "./tool-policy.js";

/**
 * In the mode "plan", only tools without side effects run, model-issued or nested; in the mode "build", all do.
 *
 * @param {{ mode: any, policies?: Record<string, any>, allow?: readonly string[] }} options `mode` is "plan", "build", an
 *   object whose `current` is one of them, or a function that returns one: it may change while turns run
 */
export function planMode(options) {
  const where = "planMode";
  checkOptions(options, ["mode", "policies", "allow"], where);
  const modeOf = checkMode(options.mode, `${where}: mode`);
  const policies = checkPolicies(options.policies ?? {}, where);
  const allowed = new Set(checkStrings(options.allow, `${where}: allow`));

  /** @param {any} _context @param {any} call */
  const check = (_context, { toolId }) => {
    if (modeOf() === "build" || allowed.has(toolId) || isHarmless(policies.get(toolId))) return;
    throw new KeelError("VALIDATION", `tool \`${toolId}\` is side-effecting and unavailable in plan mode`);
  };
  return defineMiddleware({ name: "planMode", beforeTool: check, checkNestedTool: check });
}

/**
 * What is not classified counts as side-effecting.
 *
 * @param {any} policy
 */
function isHarmless(policy) {
  return policy !== undefined && isClassified(policy) && SIDE_EFFECTS.every((effect) => policy[effect] !== true);
}

/**
 * @param {any} mode
 * @param {string} where
 * @returns {() => "plan" | "build"} anything but "build" plans
 */
function checkMode(mode, where) {
  if (typeof mode === "function") return mode;
  if (mode === "plan" || mode === "build") return () => mode;
  if (typeof mode === "object" && mode !== null && "current" in mode) return () => mode.current;
  throw optionInvalid(where, '"plan", "build", { current } or a function', mode);
}
