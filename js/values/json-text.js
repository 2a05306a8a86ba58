/**
 * Text that is safe to cross into Rust. JavaScript strings may hold half of a surrogate pair; UTF-8, and so JSON read by
 * anyone else, cannot.
 */

/**
 * The arguments of a tool call as JSON text. Text is taken to be the JSON that the model wrote, right or wrong, and is
 * kept as it is but for lone surrogates, which become the escapes that JSON has for them.
 *
 * @param {unknown} input
 * @returns {string} "" when the model gave none
 */
export function toJsonText(input) {
  if (input === undefined || input === null) return "";
  if (typeof input !== "string") return JSON.stringify(input) ?? "";
  return isWellFormed(input) ? input : input.replace(LONE_SURROGATES, escaped);
}

/**
 * Readable text: a lone surrogate becomes U+FFFD, as any encoder would have it.
 *
 * @param {string} text
 */
export function toWellFormedText(text) {
  return isWellFormed(text) ? text : text.replace(LONE_SURROGATES, "\ufffd");
}

/**
 * @param {any} text a string; the method is younger than the language version that the types describe
 * @returns {boolean}
 */
const isWellFormed = (text) => text.isWellFormed();

/** @param {string} unit */
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16)}`;

const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
