/**
 * Checks of what resume() and resumeStream() are given.
 */

import { checkOptions, describe, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { checkSignal, frozenJson } from "./run-options.js";

/**
 * @param {string} turnId
 * @param {any} options
 * @param {readonly any[]} pending what the turn waits for
 */
export function checkResume(turnId, options, pending) {
  const where = `resume of turn "${turnId}"`;
  checkOptions(options, ["approvals", "ambient", "signal"], where);
  const approvals = options.approvals ?? {};
  if (typeof approvals !== "object" || approvals === null)
    throw optionInvalid(`${where}: approvals`, "an object by pending id", approvals);
  const decisions = Object.entries(approvals).map(([id, approval]) => {
    const asked = pending.find((one) => one.id === id);
    if (!asked)
      throw optionInvalid(
        `${where}: approvals`,
        `ids of what is pending (${pending.map((one) => one.id).join(", ")})`,
        id,
      );
    return [id, decisionOf(asked, approval, `${where}: approvals["${id}"]`)];
  });
  return {
    decisions: Object.fromEntries(decisions),
    ambient: options.ambient === undefined ? undefined : frozenJson(options.ambient, `${where}: ambient`),
    signal: checkSignal(options.signal, where),
  };
}

/**
 * @param {any} pending
 * @param {any} approval
 * @param {string} where
 */
function decisionOf(pending, approval, where) {
  if (approval === "allow" && pending.kind === "approval") return "allow";
  if (typeof approval?.deny === "string") return { deny: approval.deny };
  if (typeof approval === "object" && approval !== null && "result" in approval && pending.kind === "external") {
    return { result: resultJson(approval.result, where) };
  }
  const expected = pending.kind === "external" ? "{ result } or { deny }" : '"allow" or { deny }';
  throw optionInvalid(where, expected, approval);
}

/**
 * @param {unknown} result
 * @param {string} where
 */
function resultJson(result, where) {
  let copy;
  try {
    copy = JSON.parse(JSON.stringify(result) ?? "null");
  } catch (cause) {
    throw new KeelError("OPTION_INVALID", `${where}.result: expected a JSON value, found ${describe(result)}`, {
      cause,
    });
  }
  // As a tool's own value; what reads the transcript later may have less of a stack than what wrote this.
  if (!isDeeperThan(copy, DEPTH_MAX)) return copy;
  throw new KeelError(
    "VALUE_TOO_DEEP",
    `${where}.result: expected a value nested at most ${DEPTH_MAX} levels deep, found a deeper one`,
  );
}

/**
 * @param {unknown} json
 * @param {number} levels
 * @returns {boolean}
 */
function isDeeperThan(json, levels) {
  if (typeof json !== "object" || json === null) return false;
  return levels === 0 || Object.values(json).some((child) => isDeeperThan(child, levels - 1));
}

const DEPTH_MAX = 128;
