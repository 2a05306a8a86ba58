/** One part of a reply: plain data that survives JSON, whichever model wrote it. */

import { KeelError } from "../error.js";
import { toJsonText, toWellFormedText } from "../values/json-text.js";

/**
 * What a provider attached to a part (`providerMetadata`: signatures, item ids) is kept as the `providerOptions` with
 * which the provider wants to see it again.
 *
 * @param {any} part
 * @param {string} source names the model in the error's message
 * @returns {any}
 */
export function normalisePart(part, source) {
  if (typeof part === "string") return { type: "text", text: toWellFormedText(part) };
  const type = part?.type;
  switch (type) {
    case "text":
    case "reasoning":
      if (typeof part.text !== "string") {
        throw new KeelError(
          "MODEL_ERROR",
          `${source}: expected a ${type} part with text, found ${describe(part.text)}`,
        );
      }
      return { type, text: toWellFormedText(part.text), ...providerOptions(part) };
    case "tool-call":
      return normaliseToolCall(part, source);
    default:
      if (typeof type !== "string") {
        throw new KeelError(
          "MODEL_ERROR",
          `${source}: expected each part of a reply to have a type, found ${describe(part)}`,
        );
      }
      return otherPart(part);
  }
}

/**
 * @param {any} call
 * @param {string} source
 */
export function normaliseToolCall(call, source) {
  if (call === null || typeof call !== "object") {
    throw new KeelError(
      "MODEL_ERROR",
      `${source}: expected a tool call { toolCallId, toolName, input }, found ${describe(call)}`,
    );
  }
  /** @type {any} */
  const part = {
    type: "tool-call",
    toolCallId: identifier(call.toolCallId),
    toolName: identifier(call.toolName),
    input: toolInput(call, source),
  };
  if (call.providerExecuted === true) part.providerExecuted = true;
  const attached = call.providerMetadata ?? call.providerOptions;
  if (attached !== undefined) part.providerOptions = jsonCopy(attached);
  return part;
}

/**
 * @param {any} part
 * @returns {{ providerOptions: any } | undefined}
 */
export function providerOptions(part) {
  const given = part.providerMetadata ?? part.providerOptions;
  return given === undefined ? undefined : { providerOptions: jsonCopy(given) };
}

/**
 * What was found, in a few words, for a message.
 *
 * @param {any} value
 */
export function describe(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return typeof value;
  const keys = Object.keys(value);
  return keys.length === 0 ? "an empty object" : `an object with ${keys.slice(0, 8).join(", ")}`;
}

/**
 * @param {any} call
 * @param {string} source
 */
function toolInput(call, source) {
  try {
    return toJsonText(call.input);
  } catch (cause) {
    throw new KeelError(
      "MODEL_ERROR",
      `${source}: the arguments of its call to '${identifier(call.toolName)}' are not JSON`,
      { cause },
    );
  }
}

// A missing name or id is for the kernel to answer, like any malformed call.
/** @param {unknown} value */
function identifier(value) {
  return typeof value === "string" ? toWellFormedText(value) : "";
}

/** @param {any} part */
function otherPart(part) {
  const { providerMetadata, ...rest } = part;
  return jsonCopy(providerMetadata === undefined ? rest : { ...rest, providerOptions: providerMetadata });
}

/** @param {unknown} value */
function jsonCopy(value) {
  return JSON.parse(JSON.stringify(value, bytesAsBase64), lastingText);
}

/**
 * @this {any}
 * @param {string} key
 * @param {any} value
 */
function bytesAsBase64(key, value) {
  const raw = this[key];
  if (!ArrayBuffer.isView(raw)) return value;
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("base64");
}

/**
 * @param {string} _key
 * @param {any} value
 */
function lastingText(_key, value) {
  return typeof value === "string" ? toWellFormedText(value) : value;
}
