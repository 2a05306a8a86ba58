/**
 * The host's check of a call's arguments: by the tool's Standard Schema, and by its `concurrency` function. Where a Standard
 * Schema stands, the check is made together with the call, which spares a crossing; the kernel looks at it when the call
 * has come that far.
 */

import { validate } from "./validate.js";

/** @import { HostTurn } from "./host-turn.js" */

/** @typedef {{ value: unknown, exclusive: boolean | null }} Accepted what the body will get, and whether it runs alone */

/**
 * @param {any} tool the definition
 * @param {unknown} args the call's own copy
 */
export function checkArguments(tool, args) {
  /** @returns {Accepted} */
  const accept = (/** @type {unknown} */ value) => ({ value, exclusive: exclusiveOf(tool, value) });
  return validate(tool.input, args, accept);
}

/**
 * A verdict as the kernel reads it. What it accepts is kept from here on, as the kernel knows of it.
 *
 * @param {HostTurn} turn
 * @param {Accepted | string} verdict
 */
export function tellVerdict(turn, verdict) {
  if (typeof verdict === "string") return verdict;
  return `{"ok":[${turn.keep(verdict.value)},${verdict.exclusive}]}`;
}

/**
 * The check that is told together with the call; undefined where it has to wait until the kernel asks.
 *
 * @param {HostTurn} turn
 * @param {string} toolId
 * @param {string} argsText
 * @returns {string | undefined}
 */
export function checkAhead(turn, toolId, argsText) {
  const tool = turn.agent.toolsById.get(toolId);
  // What a schema calls while it checks has to pass the gates first: it might call its own tool, without an end.
  if (!tool?.checkedAhead || turn.checking > 0) return undefined;
  let args;
  try {
    args = JSON.parse(argsText);
  } catch {
    return undefined;
  }
  turn.checking += 1;
  const verdict = checkArguments(tool.definition, args);
  if (verdict instanceof Promise) {
    verdict.then(() => (turn.checking -= 1));
    // It stays until the kernel asks for it, or lets it go.
    return `{"begun":[${turn.keep(verdict)}]}`;
  }
  turn.checking -= 1;
  return tellVerdict(turn, verdict);
}

/** How many calls of one reply are checked ahead: a budget may admit no more. */
const AHEAD_MAX = 16;

/**
 * The checks of a reply's tool calls, in their order, as the kernel reads them; "" where there is no call.
 *
 * @param {HostTurn} turn
 * @param {readonly any[]} content
 */
export function checksOf(turn, content) {
  return content
    .filter(({ type }) => type === "tool-call")
    .slice(0, AHEAD_MAX)
    .map((part) => (part.providerExecuted ? undefined : checkAhead(turn, part.toolName, part.input)) ?? "null")
    .join();
}

/**
 * @param {any} tool
 * @param {unknown} value
 */
function exclusiveOf({ concurrency }, value) {
  return typeof concurrency === "function" ? concurrency(value) !== "shared" : null;
}
