/** Performs one step of a script. */

import { systemClock } from "../running/clock.js";

/**
 * @typedef {object} Playing
 * @property {any} options what the model was called with: `signal`, `stream`, `clock`, `turnId`
 * @property {number} call which call of the script's run this is, from 1
 * @property {() => string} nextId
 * @property {number} chunks
 * @property {import("./script-step.js").StepUsage} usage
 */

/**
 * @param {any} step
 * @param {any} request
 * @param {Playing} playing
 * @returns {Promise<any>} a reply, or an async iterable of deltas
 */
export async function playStep(step, request, playing) {
  const { options } = playing;
  if (typeof step === "function") {
    const context = {
      call: playing.call,
      turnId: options.turnId,
      stream: options.stream ?? false,
      get signal() {
        return options.signal;
      },
    };
    return playStep(await step(request, context), request, playing);
  }
  switch (step?.step) {
    case "fail":
      throw step.error;
    case "hang":
      return new Promise((_resolve, reject) => {
        if (!step.ignoreAbort) whenAborted(options.signal, reject);
      });
    case "delay":
      await waitFor(step.ms, options);
      return playStep(step.next, request, playing);
    case "cut":
      if (options.stream) return cutStream(step.text);
      throw connectionLost();
    case "reply":
      return answer(step.reply, playing);
    default:
      return answer(isPartStep(step) || Array.isArray(step) ? replyOf(step, playing) : step, playing);
  }
}

/**
 * @param {any} step one part, or several in one reply
 * @param {Playing} playing
 */
function replyOf(step, playing) {
  const steps = Array.isArray(step) ? step : [step];
  return {
    content: steps.map((part) => contentPart(part, playing)),
    usage: steps.findLast((part) => part?.usage)?.usage,
  };
}

/**
 * @param {any} part
 * @param {Playing} playing
 */
function contentPart(part, playing) {
  if (part?.step === "text") return { type: "text", text: part.text };
  if (part?.step === "tool-call") {
    return { type: "tool-call", toolCallId: part.id ?? playing.nextId(), toolName: part.toolName, input: part.input };
  }
  return part;
}

/**
 * @param {any} given a reply, or what a function step made of it: also nothing, or an async iterable
 * @param {Pick<Playing, "options" | "chunks" | "usage">} playing
 * @returns {any}
 */
function answer(given, { options, chunks, usage }) {
  if (typeof given === "string") return answer({ content: given }, { options, chunks, usage });
  if (given === null || typeof given !== "object" || typeof given[Symbol.asyncIterator] === "function") return given;
  const reply = { ...given, usage: given.usage ?? usage };
  return options.stream && chunks > 1 ? deltasOf(reply, chunks) : reply;
}

/**
 * @param {any} reply
 * @param {number} chunks
 * @yields {any} deltas of a ModelReply
 */
async function* deltasOf(reply, chunks) {
  const content = reply.content ?? reply.text ?? [];
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  for (const part of parts) {
    if (part?.type !== "text" && part?.type !== "reasoning") yield part;
    else for (const delta of pieces(part.text, chunks)) yield { type: `${part.type}-delta`, delta };
  }
  for (const call of reply.toolCalls ?? []) yield { type: "tool-call", ...call };
  yield { type: "finish", finishReason: reply.finishReason, usage: reply.usage };
}

/**
 * @param {string} value
 * @param {number} count
 */
function pieces(value, count) {
  const size = Math.max(1, Math.ceil(value.length / count));
  return Array.from({ length: Math.ceil(value.length / size) }, (_, index) =>
    value.slice(index * size, (index + 1) * size),
  );
}

/**
 * @param {string} value
 * @yields {any} what came before the break
 */
async function* cutStream(value) {
  if (value !== "") yield { type: "text-delta", delta: value };
  throw connectionLost();
}

function connectionLost() {
  return Object.assign(new TypeError("terminated"), { code: "ECONNRESET", isRetryable: true });
}

/**
 * @param {number} ms
 * @param {any} options
 * @returns {Promise<void>}
 */
function waitFor(ms, { clock = systemClock, signal }) {
  return new Promise((resolve, reject) => {
    const stopListening = whenAborted(signal, (reason) => {
      cancel();
      reject(reason);
    });
    const cancel = clock.setTimer(clock.now() + ms, () => {
      stopListening();
      resolve();
    });
  });
}

/**
 * @param {AbortSignal | undefined} signal
 * @param {(reason: unknown) => void} callback
 * @returns {() => void} stops listening
 */
function whenAborted(signal, callback) {
  const listener = () => callback(signal?.reason);
  if (signal?.aborted) queueMicrotask(listener);
  else signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

/** @param {any} step */
function isPartStep(step) {
  return step?.step === "text" || step?.step === "tool-call";
}
