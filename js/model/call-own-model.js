/** Calls the package's own kind of model: `{ id, generate }`. */

import { detachedRequest } from "./detached-request.js";
import { normaliseReply } from "./reply.js";
import { readReplyStream } from "./reply-stream.js";

/**
 * @param {any} model
 * @param {any} request
 * @param {import("./call-model.js").CallOptions} options handed on as they are, so that `signal` stays lazy
 * @param {import("./call-model.js").OnDelta} [onDelta]
 * @returns {Promise<import("./reply.js").NormalisedReply>}
 */
export async function callOwnModel(model, request, options, onDelta) {
  return readOwnReply(model, await model.generate(detachedRequest(request), options), onDelta);
}

/**
 * Reads what such a model returned.
 *
 * @param {any} model
 * @param {any} given
 * @param {import("./call-model.js").OnDelta} [onDelta]
 * @returns {import("./reply.js").NormalisedReply | Promise<import("./reply.js").NormalisedReply>} a promise where the reply is a stream
 */
export function readOwnReply(model, given, onDelta) {
  const source = `model '${model.id}'`;
  if (typeof given?.[Symbol.asyncIterator] === "function") {
    return readReplyStream(given, { source, onDelta, stopAtFinish: true });
  }
  const reply = normaliseReply(given, source);
  if (onDelta) {
    for (const part of reply.content) {
      if ((part.type === "text" || part.type === "reasoning") && part.text !== "") {
        onDelta({ type: part.type, text: part.text });
      }
    }
  }
  return reply;
}
