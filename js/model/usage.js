/** Token counts, from the flat form (specification v2, our own models) and the nested one (v3, v4). */

/**
 * @typedef {object} ReplyUsage
 * @property {number} inputTokens
 * @property {number} outputTokens
 * @property {number} totalTokens
 * @property {number} [cacheReadTokens] part of `inputTokens`
 * @property {number} [reasoningTokens] part of `outputTokens`
 */

/**
 * What is missing or no count is 0, since a budget can only add up numbers.
 *
 * @param {any} usage
 * @returns {ReplyUsage}
 */
export function normaliseUsage(usage) {
  if (usage === undefined || usage === null) return { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const input = usage?.inputTokens;
  const output = usage?.outputTokens;
  const inputTokens = count(input) ?? count(input?.total) ?? sum(input?.noCache, input?.cacheRead, input?.cacheWrite);
  const outputTokens = count(output) ?? count(output?.total) ?? sum(output?.text, output?.reasoning);
  const cacheReadTokens = count(usage?.cacheReadTokens) ?? count(usage?.cachedInputTokens) ?? count(input?.cacheRead);
  const reasoningTokens = count(usage?.reasoningTokens) ?? count(output?.reasoning);
  return {
    inputTokens,
    outputTokens,
    totalTokens: count(usage?.totalTokens) ?? inputTokens + outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

/**
 * @param {any} value
 * @returns {number | undefined}
 */
function count(value) {
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  return Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER);
}

/** @param {any[]} values */
function sum(...values) {
  return values.reduce((total, value) => total + (count(value) ?? 0), 0);
}
