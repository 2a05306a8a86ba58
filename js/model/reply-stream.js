/** A stream of parts (an AI SDK model's, or our own kind's deltas) → a reply. */

import { KeelError } from "../error.js";
import { isInterrupted } from "./finish-reason.js";
import { sealReply } from "./reply.js";
import { ReplyAssembly } from "./reply-assembly.js";

/**
 * @param {any} stream an async iterable or a ReadableStream
 * @param {object} reading
 * @param {string} reading.source names the model in an error's message
 * @param {import("./call-model.js").OnDelta} [reading.onDelta]
 * @param {boolean} [reading.stopAtFinish] for streams that may stay open after their `finish`; a provider's response is
 *   read to its end, so that its connection can serve the next request
 * @param {boolean} [reading.checkFinish] whether a `finish` may be a provider's word for a cut
 * @param {() => void} [reading.throwIfAborted]
 * @returns {Promise<import("./reply.js").NormalisedReply>}
 */
export async function readReplyStream(stream, reading) {
  const assembly = new ReplyAssembly(reading.source, reading.onDelta);
  const parts = partsOf(stream);
  let isOpen = true;
  try {
    while (!(reading.stopAtFinish && assembly.finish)) {
      const { done, value } = await parts.next();
      if (done) {
        isOpen = false;
        break;
      }
      reading.throwIfAborted?.();
      assembly.add(value);
    }
  } finally {
    if (isOpen) abandon(parts);
  }
  const { finish } = assembly;
  if (!finish || (reading.checkFinish && isInterrupted(finish))) {
    const error = new KeelError(
      "MODEL_ERROR",
      `${reading.source}: its stream ended without a finish part: the reply was cut`,
    );
    throw Object.assign(error, { isRetryable: true });
  }
  return sealReply(assembly.close(), finish);
}

/**
 * @param {any} stream
 * @returns {{ next(): any, return?: (value?: any) => any }}
 */
function partsOf(stream) {
  const iterate = stream[Symbol.asyncIterator];
  if (typeof iterate === "function") return iterate.call(stream);
  const reader = stream.getReader();
  return { next: () => reader.read(), return: () => reader.cancel() };
}

/**
 * Lets the source clean up without waiting for it: its own failure or silence changes nothing.
 *
 * @param {{ return?: (value?: any) => any }} parts
 */
async function abandon(parts) {
  try {
    await parts.return?.();
  } catch {
    // The reason for leaving is already on its way to the caller.
  }
}
