/** What a model's failure means to the kernel: whether trying again may help, and when. */

import { toWellFormedText } from "../values/json-text.js";

/**
 * @typedef {object} ModelErrorDescription
 * @property {string} name
 * @property {string} message
 * @property {boolean} retryable
 * @property {number} [retryAfterMs] how long the server asks to wait
 * @property {number} [statusCode]
 */

/**
 * Reads what a failure says of itself, and takes nothing for granted: anything can be thrown, also what throws when it
 * is looked at.
 *
 * @param {unknown} error
 * @returns {ModelErrorDescription}
 */
export function describeModelError(error) {
  const chain = causes(error);
  const statusCode = first(chain, statusOf);
  const retryAfterMs = first(chain, retryAfter);
  return {
    name: toWellFormedText(text(read(error, "name")) ?? "Error"),
    message: toWellFormedText(messageOf(error)),
    retryable: isRetryable(chain, statusCode),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(statusCode === undefined ? {} : { statusCode }),
  };
}

/**
 * @param {unknown[]} chain
 * @param {number | undefined} statusCode
 */
function isRetryable(chain, statusCode) {
  if (chain.some((link) => ABORTS.has(read(link, "name")))) return false;
  const said = first(chain, (link) =>
    typeof read(link, "isRetryable") === "boolean" ? read(link, "isRetryable") : undefined,
  );
  if (said === true) return true;
  // A response that began well and then broke is reported as a failure to process it, which is not to be retried by its
  // own word; the break beneath it is.
  if (statusCode === undefined || statusCode < 400)
    return chain.some(isBroken) || (said === undefined && chain.some(isOverload));
  if (said === false) return false;
  return RETRYABLE_STATUS.has(statusCode) || statusCode >= 500;
}

/** @param {unknown} link */
function isBroken(link) {
  const code = read(link, "code");
  if (typeof code === "string" && (NETWORK_CODES.has(code) || (code.startsWith("UND_ERR_") && !MISUSE_CODES.has(code))))
    return true;
  if (read(link, "name") === "TimeoutError") return true;
  // How a provider that watches for it reports a stream that was cut off in good order.
  if (read(link, "name") === "AI_InvalidResponseDataError") return /ended without a finish/i.test(messageOf(link));
  return read(link, "name") === "TypeError" && BROKEN_FETCHES.has(messageOf(link).toLowerCase());
}

/** @param {unknown} link */
function isOverload(link) {
  return [read(link, "type"), read(link, "code")].some((word) => OVERLOADS.has(word));
}

/** @param {unknown} link */
function statusOf(link) {
  for (const key of ["statusCode", "status", "code"]) {
    const value = read(link, key);
    if (Number.isInteger(value) && value >= 100 && value <= 599) return value;
  }
  return undefined;
}

/** @param {unknown} link */
function retryAfter(link) {
  const given = read(link, "retryAfterMs");
  if (typeof given === "number" && given >= 0 && Number.isFinite(given)) return given;
  const headers = read(link, "responseHeaders") ?? read(link, "headers");
  const inMs = Number.parseFloat(header(headers, "retry-after-ms") ?? "");
  if (inMs >= 0) return inMs;
  const value = header(headers, "retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const at = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/**
 * @param {unknown} headers a plain object or a Headers
 * @param {string} name
 * @returns {string | undefined}
 */
function header(headers, name) {
  try {
    if (headers === null || typeof headers !== "object") return undefined;
    const get = read(headers, "get");
    if (typeof get === "function") return text(get.call(headers, name));
    const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
    return key === undefined ? undefined : text(String(read(headers, key)));
  } catch {
    return undefined;
  }
}

/**
 * The error and what lies beneath it. Providers also nest what the server sent as `error`.
 *
 * @param {unknown} error
 */
function causes(error) {
  const chain = [error];
  for (const link of chain) {
    if (chain.length >= CAUSES_MAX) break;
    for (const key of ["cause", "error"]) {
      const next = read(link, key);
      if (next !== null && typeof next === "object" && !chain.includes(next)) chain.push(next);
    }
  }
  return chain;
}

/** @param {unknown} error */
function messageOf(error) {
  const message = text(read(error, "message")) ?? text(read(read(error, "error"), "message"));
  if (message !== undefined) return message;
  try {
    if (error !== null && typeof error === "object") return JSON.stringify(error) ?? "an unknown error";
    return typeof error === "string" ? error : `thrown: ${String(error)}`;
  } catch {
    return "an error that cannot be read";
  }
}

/**
 * @param {any} value
 * @param {string} key
 * @returns {any}
 */
function read(value, key) {
  try {
    return value === null || (typeof value !== "object" && typeof value !== "function") ? undefined : value[key];
  } catch {
    return undefined;
  }
}

/**
 * @param {unknown} value
 * @returns {string | undefined}
 */
function text(value) {
  return typeof value === "string" ? value : undefined;
}

/**
 * @template T
 * @param {unknown[]} chain
 * @param {(link: unknown) => T | undefined} find
 * @returns {T | undefined}
 */
function first(chain, find) {
  for (const link of chain) {
    const found = find(link);
    if (found !== undefined) return found;
  }
  return undefined;
}

const CAUSES_MAX = 16;

/** @type {Set<unknown>} */
const ABORTS = new Set(["AbortError", "ResponseAborted"]);

const RETRYABLE_STATUS = new Set([408, 409, 429]);

// Node's own codes, and the words that Bun has for the same.
const NETWORK_CODES = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "ETIMEDOUT",
  "EPIPE",
  "EAI_AGAIN",
  "ENOTFOUND",
  "ENETDOWN",
  "ENETUNREACH",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ConnectionRefused",
  "ConnectionReset",
  "ConnectionClosed",
  "FailedToOpenSocket",
  "Timeout",
]);

// Codes of the HTTP client that name a wrong use of it, not a failing network.
const MISUSE_CODES = new Set([
  "UND_ERR_ABORTED",
  "UND_ERR_INVALID_ARG",
  "UND_ERR_INVALID_RETURN_VALUE",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
]);

const BROKEN_FETCHES = new Set(["fetch failed", "failed to fetch", "terminated", "network error"]);

/** @type {Set<unknown>} */
const OVERLOADS = new Set([
  "overloaded_error",
  "rate_limit_error",
  "api_error",
  "server_error",
  "timeout_error",
  "rate_limit_exceeded",
  "server_is_overloaded",
]);
