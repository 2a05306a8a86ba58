/** Calls the package's own kind of model: `{ id, generate }`. */

import { detachedRequest } from "./detached-request.js";
import { normaliseReply } from "./reply.js";
import { readReplyStream } from "./reply-stream.js";

/**
 * @param {any} model
 * @param {any} request
 * @param {import("../model.js").CallOptions} options handed on as they are, so that `signal` stays lazy
 * @param {import("../model.js").OnDelta} [onDelta]
 * @returns {Promise<import("./reply.js").NormalisedReply>}
 */
export async function callOwnModel(model, request, options, onDelta) {
  const source = `model '${model.id}'`;
  const given = await model.generate(detachedRequest(request), options);
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
