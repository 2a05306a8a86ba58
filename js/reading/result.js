/**
 * What run() resolves with: the kernel's result, with what only the host has put in: the messages as objects, the reason
 * of a stop as it was given, and what a model threw.
 */

import { KeelError } from "../error.js";
import { OWN } from "../host/command-queue.js";
import { FINISH_REASONS } from "../model/finish-reason.js";
import { redactRecord } from "./redact.js";

/** @import { CommandQueue } from "../host/command-queue.js" */
/** @import { HostTurn } from "../host/host-turn.js" */

class TurnResult {
  /** This result when the turn completed; otherwise throws the outcome's cause as a KeelError. */
  orThrow() {
    const { outcome, turnId } = /** @type {any} */ (this);
    if (outcome.status === "completed") return this;
    if (outcome.status === "stopped") {
      throw new KeelError("STOPPED", `turn '${turnId}' was stopped`, { cause: outcome.reason });
    }
    if (outcome.status === "suspended") {
      throw new KeelError(
        "APPROVAL_REQUIRED",
        `turn '${turnId}' is suspended: ${outcome.pending.length} calls wait for a human`,
        { details: outcome.pending },
      );
    }
    const { cause } = outcome;
    throw new KeelError(cause.code, cause.message, { cause: cause.cause, details: cause });
  }
}

/**
 * The result of a root that completed without more than a text: what the kernel would say as JSON, made of its numbers.
 *
 * @param {HostTurn} turn
 * @param {number} at where the numbers begin: the fields that `TurnResult` writes in the kernel's `record.rs`
 */
export function usualResult(turn, at) {
  const { run, turnId } = turn;
  const { commands, host } = run;
  const { rows } = commands;
  const finishReason = FINISH_REASONS[rows[at]];
  const isEmpty = rows[at + 1] === 1;
  const text = rows[at + 2] === OWN ? turn.replyText : commands.text(rows[at + 2]);
  const usage = usageAt(commands, at + 21);
  /** @type {any} */
  const record = {
    turnId,
    rootTurnId: turnId,
    agentId: turn.agent.definition.id,
    attempt: 1,
    status: "completed",
    outcome: { status: "completed" },
    budget: { granted: grantedAt(commands, at + 3), used: usedAt(commands, at + 12) },
    usage,
    treeUsage: usageAt(commands, at + 34),
    finishReason,
  };
  if (isEmpty) record.empty = true;
  record.startedAt = commands.double(at + 17);
  record.endedAt = commands.double(at + 19);
  record.input = run.input;
  record.parts = [];
  record.transcript = Object.freeze(turn.transcript.messages);
  /** @type {any} */
  const result = new TurnResult();
  result.turnId = turnId;
  result.outcome = { status: "completed" };
  result.text = text;
  if (isEmpty) result.empty = true;
  result.finishReason = finishReason;
  result.parts = [];
  result.usage = { ...usage };
  result.record = redactRecord(record, host.options.capture);
  return result;
}

/**
 * @param {CommandQueue} commands
 * @param {number} at
 */
function grantedAt(commands, at) {
  const { rows } = commands;
  const [timeMs, tokens, costUsd] = [commands.double(at + 2), commands.double(at + 4), commands.double(at + 6)];
  /** @type {any} */
  const granted = { steps: rows[at] >>> 0 };
  if (timeMs === timeMs) granted.timeMs = timeMs;
  granted.toolCalls = rows[at + 1] >>> 0;
  if (tokens === tokens) granted.tokens = tokens;
  if (costUsd === costUsd) granted.costUsd = costUsd;
  if (rows[at + 8] !== -1) granted.onExhausted = rows[at + 8] === 0 ? "fail" : "answer";
  return granted;
}

/**
 * @param {CommandQueue} commands
 * @param {number} at
 */
function usedAt(commands, at) {
  const { rows } = commands;
  return {
    steps: rows[at] >>> 0,
    toolCalls: rows[at + 1] >>> 0,
    nestedCalls: rows[at + 2] >>> 0,
    timeMs: commands.double(at + 3),
  };
}

/**
 * @param {CommandQueue} commands
 * @param {number} at
 */
function usageAt(commands, at) {
  const [cacheReadTokens, reasoningTokens, costUsd] = [
    commands.double(at + 6),
    commands.double(at + 8),
    commands.double(at + 10),
  ];
  /** @type {any} */
  const usage = {
    inputTokens: commands.double(at),
    outputTokens: commands.double(at + 2),
    totalTokens: commands.double(at + 4),
  };
  if (cacheReadTokens === cacheReadTokens) usage.cacheReadTokens = cacheReadTokens;
  if (reasoningTokens === reasoningTokens) usage.reasoningTokens = reasoningTokens;
  usage.nudges = commands.rows[at + 12];
  if (costUsd === costUsd) usage.costUsd = costUsd;
  return usage;
}

/**
 * @param {any} result the kernel's
 * @param {HostTurn} turn
 */
export function resultOf(result, turn) {
  const { run } = turn;
  const { outcome, record } = result;
  if (outcome.status === "stopped") outcome.reason = run.stopOf(run.turnId)?.reason;
  if (outcome.status === "failed") restoreModelError(outcome.cause, run.modelErrors);
  record.transcript = Object.freeze(
    outcome.status === "suspended" ? [...turn.transcript.messages] : turn.transcript.messages,
  );
  result.record = redactRecord(record, run.host.options.capture);
  return Object.assign(new TurnResult(), result);
}

/**
 * Puts what the model threw under the cause that it led to, untouched.
 *
 * @param {any} cause
 * @param {Map<string, unknown>} modelErrors
 */
function restoreModelError(cause, modelErrors) {
  if (cause.code === "MODEL_ERROR" && modelErrors.has(cause.turnId)) cause.cause = modelErrors.get(cause.turnId);
  else if (cause.cause) restoreModelError(cause.cause, modelErrors);
}
