/** Calls an AI SDK language model of specification v2, v3 or v4. */

import { KeelError } from "../error.js";
import { detached, detachedTools } from "./detached-request.js";
import { toPrompt } from "./prompt.js";
import { normaliseReply } from "./reply.js";
import { readReplyStream } from "./reply-stream.js";

/**
 * @param {any} model
 * @param {any} request
 * @param {import("./call-model.js").CallOptions} options
 * @param {import("./call-model.js").OnDelta} [onDelta]
 * @returns {Promise<import("./reply.js").NormalisedReply>}
 */
export async function callLanguageModel(model, request, options, onDelta) {
  const source = `model '${model.modelId}'`;
  /** @type {AbortSignal | undefined} */
  let signal;
  const callOptions = {
    ...toCallOptions(request, model.specificationVersion),
    get abortSignal() {
      return (signal ??= options.signal);
    },
  };
  if (!options.stream) return normaliseReply(await model.doGenerate(callOptions), source);
  const stream = (await model.doStream(callOptions))?.stream;
  if (stream === null || typeof stream !== "object") {
    throw new KeelError("MODEL_ERROR", `${source}: expected doStream to answer { stream }, found ${typeof stream}`);
  }
  return readReplyStream(stream, {
    source,
    onDelta,
    checkFinish: true,
    throwIfAborted: () => signal?.throwIfAborted(),
  });
}

/**
 * @param {any} request
 * @param {"v2" | "v3" | "v4"} version
 */
function toCallOptions(request, version) {
  const { messages, tools, toolChoice, ...settings } = request;
  const callOptions = { ...detached(settings), prompt: toPrompt(messages, version) };
  // Providers refuse a tool choice that comes without tools.
  if (tools?.length > 0) {
    callOptions.tools = detachedTools(tools);
    if (toolChoice !== undefined) {
      callOptions.toolChoice = typeof toolChoice === "string" ? { type: toolChoice } : detached(toolChoice);
    }
  }
  return callOptions;
}
