/**
 * What a tool's body returned or threw → the answer that the kernel reads. JSON rules hold: undefined becomes null, NaN and
 * infinities become null, dates their ISO text, keys without a JSON value are left out. What has no JSON form at all is a
 * failure of the tool that says so.
 */

import { KeelError } from "../error.js";
import { describe } from "../definitions/options.js";
import { toWellFormedText } from "../values/json-text.js";
import { isToolResult } from "../definitions/tool-result.js";

/**
 * @typedef {object} ToolAnswer what a body answered; values as JSON text, which is also how they are copied
 * @property {boolean} plain a value and nothing else
 * @property {boolean} isError
 * @property {string | undefined} text
 * @property {string | undefined} value
 * @property {string | undefined} metadata
 * @property {any} control
 */

/**
 * @param {any} tool
 * @param {unknown} returned
 * @returns {ToolAnswer}
 */
export function toolAnswer(tool, returned) {
  if (!isToolResult(returned)) {
    const value = jsonText(tool, returned);
    return { plain: true, isError: false, text: undefined, value, metadata: undefined, control: undefined };
  }
  const { isError, text, value, metadata, control } = returned;
  return {
    plain: false,
    isError,
    text,
    value: value === undefined ? undefined : jsonText(tool, value),
    metadata: metadata === undefined ? undefined : jsonText(tool, metadata),
    control,
  };
}

/**
 * The answer as the kernel reads it.
 *
 * @param {ToolAnswer} answer
 */
export function resultText({ isError, text, value, metadata, control }) {
  let fields = `"isError":${isError}`;
  if (text !== undefined) fields += `,"text":${JSON.stringify(text)}`;
  if (value !== undefined) fields += `,"value":${value}`;
  if (metadata !== undefined) fields += `,"metadata":${metadata}`;
  if (control !== undefined) fields += `,"control":${JSON.stringify(control)}`;
  return `{"result":{${fields}}}`;
}

/**
 * The answer as the API's `ToolResult`, where the kernel says that it stands as it was given: the same that the kernel makes
 * of one that it changed. Every command gets a copy.
 *
 * @param {ToolAnswer} answer
 */
export function toolResultOf({ isError, text, value = "null", metadata = "null" }) {
  const parsed = JSON.parse(value);
  const shown = text ?? (typeof parsed === "string" ? parsed : value);
  /** @type {any} */
  const result = { isError, text: toWellFormedText(shown) };
  // To the kernel, nothing and null are one.
  if (value !== "null") result.value = parsed;
  if (metadata !== "null") result.metadata = JSON.parse(metadata);
  return result;
}

/**
 * A result that middleware hands on, as the kernel reads it. Without one the call has an empty result.
 *
 * @param {string} toolId
 * @param {any} result
 */
export function wireResult(toolId, result) {
  if (result === undefined) return { isError: false, text: "" };
  if (typeof result !== "object" || result === null || typeof (result.isError ?? false) !== "boolean") {
    throw new KeelError(
      "OPTION_INVALID",
      `middleware around tool '${toolId}': expected a ToolResult, found ${describe(result)}`,
    );
  }
  const { isError = false, text, value, metadata } = result;
  if (text !== undefined && text !== null && typeof text !== "string") {
    throw new KeelError(
      "OPTION_INVALID",
      `middleware around tool '${toolId}': expected a text, found ${describe(text)}`,
    );
  }
  return { isError, text: text ?? null, value: value ?? null, metadata: metadata ?? null };
}

/**
 * @param {unknown} error
 * @returns {string}
 */
export function thrownAnswer(error) {
  return JSON.stringify({ thrown: thrown(error) });
}

/**
 * What the kernel may know of something thrown. Never throws itself, whatever was thrown.
 *
 * @param {any} error
 * @returns {{ code?: string, message: string }}
 */
export function thrown(error) {
  try {
    const code = KeelError.isInstance(error) ? boundedText(String(error.code)) : undefined;
    const message = boundedText(typeof error?.message === "string" ? error.message : String(error));
    return code === undefined ? { message } : { code, message };
  } catch {
    return { message: "something was thrown that cannot be read" };
  }
}

/** More than anybody reads, and little enough that its JSON text can be made whatever it says. */
const BOUND = 1_000_000;

/**
 * What a failure says, as far as the kernel is told of it.
 *
 * @param {string} text
 */
export function boundedText(text) {
  return toWellFormedText(text.slice(0, BOUND));
}

/**
 * @param {any} tool
 * @param {any} value
 * @returns {string}
 */
function jsonText(tool, value) {
  const kind = unserialisable(value);
  if (kind) throw noJson(tool, kind);
  let text;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw noJson(tool, describe(value), cause);
  }
  return text ?? "null";
}

/** @param {any} value */
function unserialisable(value) {
  switch (typeof value) {
    case "function":
    case "symbol":
    case "bigint":
      return `a ${typeof value}`;
    case "object":
      if (value instanceof Map || value instanceof Set) return `a ${value.constructor.name}`;
      // Its JSON text would be "{}": a failure that looks like a success.
      if (value instanceof Error && !("toJSON" in value)) return `a ${value.name}: ${value.message}`;
      return undefined;
    default:
      return undefined;
  }
}

/**
 * @param {any} tool
 * @param {string} found
 * @param {unknown} [cause]
 */
function noJson(tool, found, cause) {
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  return new KeelError("TOOL_FAILED", `tool '${tool.id}' returned ${found}, which has no JSON form${reason}`, {
    cause,
  });
}
