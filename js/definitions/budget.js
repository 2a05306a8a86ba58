/**
 * Checks of budgets (what one turn may spend) and limits (how a turn or a whole tree behaves), wherever they are given:
 * defineAgent, asTool, createKeel and run.
 */

import { KeelError } from "../error.js";
import { checkOptions, COUNT_MAX, describe } from "./options.js";

/** @typedef {(value: any) => boolean} Rule */
/** @typedef {{ expected: string, allows: Rule, most?: number }} Field */

/** @type {Field} */
const positiveCount = {
  expected: "a positive whole number",
  allows: (n) => Number.isSafeInteger(n) && n > 0,
  most: COUNT_MAX,
};
/** @type {Field} */
const count = {
  expected: "a whole number, 0 or more",
  allows: (n) => Number.isSafeInteger(n) && n >= 0,
  most: COUNT_MAX,
};
/** @type {Field} */
const positiveWhole = { expected: "a positive whole number", allows: (n) => Number.isSafeInteger(n) && n > 0 };
/** @type {Field} */
const whole = { expected: "a whole number, 0 or more", allows: (n) => Number.isSafeInteger(n) && n >= 0 };
/** @type {Field} */
const positiveAmount = { expected: "a positive number", allows: (n) => typeof n === "number" && n > 0 && n < Infinity };

/** @param {...string} names @returns {Field} */
const oneOf = (...names) => ({
  expected: names.map((name) => `"${name}"`).join(" or "),
  allows: (v) => names.includes(v),
});

const SPENDING = { steps: positiveCount, toolCalls: positiveCount, tokens: positiveWhole, costUsd: positiveAmount };

/** @type {Record<string, Field>} */
const BUDGET = { ...SPENDING, timeMs: positiveWhole, onExhausted: oneOf("fail", "answer") };

/** @type {Record<string, Field>} */
const TOOL_TIMEOUT = { inheritedMs: whole, minMs: positiveWhole, maxMs: positiveWhole, graceMs: whole };

/** @type {Record<string, Field | Record<string, Field>>} */
const LIMITS = {
  toolExecution: oneOf("parallel", "sequential"),
  hookTimeoutMs: positiveWhole,
  modelCallTimeoutMs: positiveWhole,
  streamIdleTimeoutMs: positiveWhole,
  toolResultBytes: positiveWhole,
  maxNestedDepth: count,
  maxDepth: count,
  maxToolConcurrency: count,
  maxModelRetries: count,
  behavior: oneOf("error", "stopWithPartial"),
  invalidArgs: oneOf("fail", "returnToolError", "normalizeThenReturnToolError"),
  toolTimeout: TOOL_TIMEOUT,
  tree: SPENDING,
};

/**
 * @param {unknown} budget
 * @param {string} where names the place in messages
 * @returns {any} a frozen copy, or undefined when none was given
 */
export function checkBudget(budget, where) {
  return checkFields(budget, BUDGET, "BUDGET_INVALID", `${where}: budget`);
}

/**
 * @param {unknown} limits
 * @param {string} where names the place in messages
 * @returns {any} a frozen copy, or undefined when none was given
 */
export function checkLimits(limits, where) {
  const checked = checkFields(limits, LIMITS, "LIMIT_INVALID", `${where}: limits`);
  const { minMs, maxMs } = checked?.toolTimeout ?? {};
  if (minMs > maxMs) {
    throw new KeelError(
      "LIMIT_INVALID",
      `${where}: limits.toolTimeout: expected maxMs to be at least minMs (${minMs}), found ${maxMs}`,
    );
  }
  return checked;
}

/** @type {WeakMap<object, { names: string[], entries: [string, Field | Record<string, Field>][] }>} */
const knownFields = new WeakMap();

/**
 * @param {any} given
 * @param {Record<string, Field | Record<string, Field>>} fields
 * @param {string} code
 * @param {string} where
 * @returns {any}
 */
function checkFields(given, fields, code, where) {
  if (given === undefined) return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new KeelError(code, `${where}: expected an object, found ${describe(given)}`);
  }
  let known = knownFields.get(fields);
  if (known === undefined) {
    known = { names: Object.keys(fields), entries: Object.entries(fields) };
    knownFields.set(fields, known);
  }
  checkOptions(given, known.names, where);
  /** @type {Record<string, unknown>} */
  const checked = {};
  for (const [name, field] of known.entries) {
    const value = given[name];
    if (value === undefined) continue;
    checked[name] = isField(field)
      ? checkField(value, field, code, `${where}.${name}`)
      : checkFields(value, field, code, `${where}.${name}`);
  }
  return Object.freeze(checked);
}

/**
 * @param {unknown} value
 * @param {Field} field
 * @param {string} code
 * @param {string} where
 */
function checkField(value, field, code, where) {
  if (!field.allows(value)) {
    throw new KeelError(code, `${where}: expected ${field.expected}, found ${describe(value)}`);
  }
  return field.most !== undefined && Number(value) > field.most ? field.most : value;
}

/**
 * @param {Field | Record<string, Field>} field
 * @returns {field is Field}
 */
function isField(field) {
  return typeof field.expected === "string";
}
