/** A whole reply of any model → the one form that the kernel knows. */

import { KeelError } from "../error.js";
import { normaliseFinishReason } from "./finish-reason.js";
import { describe, normalisePart, normaliseToolCall } from "./reply-part.js";
import { normaliseUsage } from "./usage.js";

/**
 * @typedef {object} NormalisedReply
 * @property {any[]} content parts in the order in which the model wrote them; a tool call's `input` is JSON text
 * @property {import("./finish-reason.js").FinishReason} finishReason
 * @property {import("./usage.js").ReplyUsage} usage
 */

/**
 * Reads shapes, never classes: replies come frozen, without a prototype, or from another realm.
 *
 * @param {any} given
 * @param {string} source names the model in the error's message
 * @returns {NormalisedReply}
 */
export function normaliseReply(given, source) {
  const reply = typeof given === "string" ? { text: given } : given;
  if (reply === null || typeof reply !== "object" || !isReply(reply)) {
    throw new KeelError(
      "MODEL_ERROR",
      `${source}: expected a reply such as { content: "…" }, { text, toolCalls } or an async iterable of deltas, found ${describe(reply)}`,
    );
  }
  return sealReply(contentParts(reply, source), reply);
}

/**
 * @param {any[]} parts normalised
 * @param {any} end what carries the finish reason and the usage
 * @returns {NormalisedReply}
 */
export function sealReply(parts, end) {
  const content = [];
  let hasToolCalls = false;
  for (const part of parts) {
    if (!saysSomething(part)) continue;
    content.push(part);
    if (part.type === "tool-call") hasToolCalls = true;
  }
  return {
    content,
    finishReason: normaliseFinishReason(end.finishReason, hasToolCalls),
    usage: normaliseUsage(end.usage),
  };
}

/**
 * An empty text tells nothing, unless the provider attached something to it.
 *
 * @param {any} part
 */
function saysSomething(part) {
  return (part.type !== "text" && part.type !== "reasoning") || part.text !== "" || part.providerOptions !== undefined;
}

/**
 * @param {any} reply
 * @param {string} source
 * @returns {any[]}
 */
function contentParts(reply, source) {
  const content = reply.content ?? reply.text ?? [];
  const calls = reply.toolCalls ?? [];
  const given = typeof content === "string" ? [content] : content;
  if (!Array.isArray(given)) {
    throw new KeelError(
      "MODEL_ERROR",
      `${source}: expected content to be text or an array of parts, found ${describe(content)}`,
    );
  }
  if (!Array.isArray(calls)) {
    throw new KeelError("MODEL_ERROR", `${source}: expected toolCalls to be an array, found ${describe(calls)}`);
  }
  const parts = [];
  for (const part of given) parts.push(normalisePart(part, source));
  for (const call of calls) parts.push(normaliseToolCall(call, source));
  return parts;
}

/** @param {any} reply */
function isReply({ content, text, toolCalls, finishReason }) {
  return content !== undefined || text !== undefined || toolCalls !== undefined || finishReason !== undefined;
}
