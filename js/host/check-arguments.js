/**
 * The host's check of a call's arguments: by the tool's Standard Schema, and by its `concurrency` function. Where a Standard
 * Schema stands, the check is made together with the call, which spares a crossing; the kernel looks at it when the call
 * has come that far.
 */

import { validate } from "./validate.js";

/** @import { HostTurn } from "./host-turn.js" */
/** @import { Run } from "./run.js" */

/** @typedef {{ value: unknown, exclusive: boolean | null }} Accepted what the body will get, and whether it runs alone */
/** @typedef {{ kept: number, exclusive: number }} Kept the same as it is kept; `exclusive` is -1 where nobody says, -2 while the check is under way */
/** @typedef {Kept | string} Verdict as the kernel reads it: what is kept, or JSON text */

/** The schema takes its time: its promise is kept. */
const BEGUN = -2;

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
 * Keeps what is accepted, for the kernel to name it.
 *
 * @param {Run} run
 * @param {Accepted} accepted
 * @returns {Kept}
 */
export function keep(run, { value, exclusive }) {
  return { kept: run.kept.keep(value), exclusive: exclusive === null ? -1 : Number(exclusive) };
}

/**
 * What is kept, as JSON text.
 *
 * @param {Kept} check
 */
export function checkText({ kept, exclusive }) {
  if (exclusive === BEGUN) return `{"begun":[${kept}]}`;
  return `{"ok":[${kept},${exclusive < 0 ? null : exclusive > 0}]}`;
}

/**
 * The check that is told together with the call; undefined where it has to wait until the kernel asks.
 *
 * @param {HostTurn} turn
 * @param {string} toolId
 * @param {() => unknown} read the call's own copy of its arguments; throws where they are no JSON
 * @returns {Verdict | undefined}
 */
export function checkAhead(turn, toolId, read) {
  const tool = turn.agent.toolsById.get(toolId);
  // What a schema calls while it checks has to pass the gates first: it might call its own tool, without an end.
  if (!tool?.checkedAhead || turn.checking > 0) return undefined;
  let args;
  try {
    args = read();
  } catch {
    return undefined;
  }
  turn.checking += 1;
  const verdict = checkArguments(tool.definition, args);
  if (verdict instanceof Promise) {
    verdict.then(() => (turn.checking -= 1));
    // It stays until the kernel asks for it, or lets it go.
    return { kept: turn.run.kept.keep(verdict), exclusive: BEGUN };
  }
  turn.checking -= 1;
  return typeof verdict === "string" ? verdict : keep(turn.run, verdict);
}

/** How many calls of one reply are checked ahead: a budget may admit no more. */
const AHEAD_MAX = 16;

/**
 * The checks of the tool calls of a turn's last reply that are ours to run, in their order.
 *
 * @param {HostTurn} turn
 * @returns {readonly (Verdict | undefined)[]}
 */
export function checksOf(turn) {
  const { issued } = turn;
  if (issued.length === 0) return NO_CHECKS;
  const checks = [];
  for (const call of issued) {
    if (checks.length === AHEAD_MAX) break;
    checks.push(checkAhead(turn, call.part.toolName, () => call.readArguments()));
  }
  return checks;
}

/** @type {readonly undefined[]} */
const NO_CHECKS = Object.freeze([]);

/**
 * @param {any} tool
 * @param {unknown} value
 */
function exclusiveOf({ concurrency }, value) {
  return typeof concurrency === "function" ? concurrency(value) !== "shared" : null;
}
