/** Why a model stopped, from the plain form (specification v2, our own models) and the one with a raw reason (v3, v4). */

/** @typedef {"stop" | "length" | "content-filter" | "tool-calls" | "error" | "other"} FinishReason */

/**
 * @param {any} given
 * @param {boolean} hasToolCalls decides where no reason is given
 * @returns {FinishReason}
 */
export function normaliseFinishReason(given, hasToolCalls) {
  const reason = given?.unified ?? given;
  if (reason === undefined || reason === null) return hasToolCalls ? "tool-calls" : "stop";
  return REASONS.has(reason) ? reason : "other";
}

/**
 * Whether a `finish` that a provider wrote only says that the stream is over. A server that is cut off behind a proxy
 * ends its response in good order: v4 providers then report "interrupted", older ones an unknown reason without the token
 * counts that a server sends at its end.
 *
 * @param {any} finish
 */
export function isInterrupted(finish) {
  const { finishReason } = finish;
  const reason = finishReason?.unified ?? finishReason;
  if (reason === "interrupted") return true;
  const isUnknown = reason === "unknown" || (reason === "other" && (finishReason?.raw ?? undefined) === undefined);
  const output = finish.usage?.outputTokens;
  return isUnknown && typeof output !== "number" && typeof output?.total !== "number";
}

/** In the kernel's order. */
export const FINISH_REASONS = /** @type {const} */ ([
  "stop",
  "length",
  "content-filter",
  "tool-calls",
  "error",
  "other",
]);

/** @type {Set<unknown>} */
const REASONS = new Set(FINISH_REASONS);
