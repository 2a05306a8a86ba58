/**
 * Middleware: hooks around model and tool calls, for a keel, a run or an agent.
 */

import { KeelError } from "../error.js";
import { checkArray, checkChoice, checkOptions, checkType, freezeDefinition, optionInvalid } from "./options.js";

const HOOKS = [
  "beforeModel",
  "afterModel",
  "beforeTool",
  "afterTool",
  "checkNestedTool",
  "observeNestedResult",
  "wrapTool",
  "onError",
];

/** @type {WeakSet<object>} */
const defined = new WeakSet();

/**
 * @param {any} options
 * @returns {any}
 */
export function defineMiddleware(options) {
  checkOptions(options, ["name", "nested", "concurrentSafe", ...HOOKS], "defineMiddleware");
  const { name } = options;
  if (typeof name !== "string" || name === "")
    throw optionInvalid("defineMiddleware: name", "a non-empty string", name);
  const where = `middleware "${name}"`;
  const hooks = Object.fromEntries(HOOKS.map((hook) => [hook, bound(options, hook, where)]));
  const middleware = freezeDefinition({
    kind: "middleware",
    name,
    nested: checkChoice(options.nested, ["exempt"], `${where}: nested`),
    concurrentSafe: checkType(options.concurrentSafe, "boolean", `${where}: concurrentSafe`) ?? true,
    ...hooks,
  });
  defined.add(middleware);
  return middleware;
}

/**
 * @param {any} given
 * @param {string} where
 * @returns {readonly any[]}
 */
export function checkMiddleware(given, where) {
  const list = checkArray(given, `${where}: middleware`);
  for (const [index, middleware] of list.entries()) {
    if (!defined.has(middleware))
      throw optionInvalid(`${where}: middleware[${index}]`, "a middleware made with defineMiddleware", middleware);
  }
  return list;
}

/**
 * Which stages a list of middleware has hooks for, as the kernel wants to know it.
 *
 * @param {readonly any[]} list
 */
export function hookFlags(list) {
  const flags = Object.fromEntries(
    HOOKS.filter((hook) => hook !== "onError").map((hook) => [hook, list.some((one) => one[hook] !== undefined)]),
  );
  return { ...flags, serial: list.some(({ wrapTool, concurrentSafe }) => wrapTool !== undefined && !concurrentSafe) };
}

/**
 * With nested calls on, a middleware that guards the model's calls must guard the nested ones too, or say that it does
 * not mean to: otherwise `ctx.callTool` would be a way around it.
 *
 * @param {readonly any[]} list
 * @param {string} where
 */
export function checkGuarded(list, where) {
  for (const { name, nested, beforeTool, checkNestedTool } of list) {
    if (beforeTool === undefined || checkNestedTool !== undefined || nested === "exempt") continue;
    throw new KeelError(
      "NESTED_UNGUARDED",
      `${where}: middleware "${name}" has beforeTool and no checkNestedTool, so nested calls (maxNestedDepth > 0) would pass it by; add checkNestedTool, or nested: "exempt"`,
    );
  }
}

/**
 * A hook that keeps its `this`: middleware may be written as an object with methods.
 *
 * @param {any} options
 * @param {string} hook
 * @param {string} where
 */
function bound(options, hook, where) {
  const given = checkType(options[hook], "function", `${where}: ${hook}`);
  return given && ((/** @type {any[]} */ ...args) => given.apply(options, args));
}
