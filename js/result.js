/**
 * What run() resolves with: the kernel's result, with what only the host has put in: the messages as objects, the reason
 * of a stop as it was given, and what a model threw.
 */

import { KeelError } from "./error.js";
import { redactRecord } from "./redact.js";

/** @import { Host } from "./host.js" */
/** @import { HostTurn } from "./host/host-turn.js" */

class TurnResult {
  /** @param {any} fields */
  constructor(fields) {
    Object.assign(this, fields);
  }

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
 * @param {any} result the kernel's
 * @param {HostTurn} turn
 * @param {Host} host
 */
export function resultOf(result, turn, host) {
  const { run } = turn;
  const { outcome, record } = result;
  if (outcome.status === "stopped") outcome.reason = run.stopOf(run.turnId)?.reason;
  if (outcome.status === "failed") restoreModelError(outcome.cause, run.modelErrors);
  record.transcript = Object.freeze(
    outcome.status === "suspended" ? [...turn.transcript.messages] : turn.transcript.messages,
  );
  result.record = redactRecord(record, host.options.capture);
  return new TurnResult(result);
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
