/** The steps that a script is written in: what a scripted model answers to one call. */

/**
 * @typedef {object} Step
 * @property {"text" | "tool-call" | "reply" | "fail" | "hang" | "delay" | "cut"} step the brand that tells steps from replies
 */

/**
 * @typedef {object} StepUsage
 * @property {number} inputTokens
 * @property {number} outputTokens
 * @property {number} [totalTokens]
 * @property {number} [cacheReadTokens]
 * @property {number} [reasoningTokens]
 */

/**
 * A reply of plain text.
 *
 * @param {string} value
 * @param {{ usage?: StepUsage }} [options]
 */
export function text(value, { usage } = {}) {
  return Object.freeze({ step: /** @type {const} */ ("text"), text: value, usage });
}

/**
 * A reply that calls a tool. Text arguments are sent as they are, so that a script can hold arguments that are not JSON.
 *
 * @param {string} toolName
 * @param {unknown} [args]
 * @param {{ id?: string, usage?: StepUsage }} [options]
 */
export function toolCall(toolName, args = {}, { id, usage } = {}) {
  return Object.freeze({ step: /** @type {const} */ ("tool-call"), toolName, input: args, id, usage });
}

/**
 * A whole reply, for what the other steps do not say: several parts, a finish reason, token counts.
 *
 * @param {{ content?: string | unknown[], finishReason?: string, usage?: StepUsage }} value
 */
export function reply(value) {
  return Object.freeze({ step: /** @type {const} */ ("reply"), reply: value });
}

/**
 * The call fails with this very error. It is retried when it says `isRetryable: true`.
 *
 * @param {unknown} error
 */
export function fail(error) {
  return Object.freeze({ step: /** @type {const} */ ("fail"), error });
}

/**
 * The call never answers. It rejects once its signal is aborted, as a well-behaved provider does; with `ignoreAbort` not
 * even then.
 *
 * @param {{ ignoreAbort?: boolean }} [options]
 */
export function hang({ ignoreAbort = false } = {}) {
  return Object.freeze({ step: /** @type {const} */ ("hang"), ignoreAbort });
}

/**
 * Another step, so many milliseconds later on the clock of the Keel that asks.
 *
 * @param {number} ms
 * @param {unknown} step
 */
export function delay(ms, step) {
  return Object.freeze({ step: /** @type {const} */ ("delay"), ms, next: step });
}

/**
 * The connection breaks after this much text: a failure that is worth a retry.
 *
 * @param {string} value the text that was streamed before the break; "" breaks before any
 */
export function cut(value) {
  return Object.freeze({ step: /** @type {const} */ ("cut"), text: value });
}
