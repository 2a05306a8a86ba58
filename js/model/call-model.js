/**
 * Models: what may stand as an agent's `model`, and how one is called.
 *
 * Two kinds are taken: the AI SDK's LanguageModel objects (specification v2, v3 and v4) and the package's own `Model`
 * (`{ id, generate }`). Both answer with one normalised reply, so that nothing beyond this file knows the difference.
 * Retries, timeouts and budgets belong to the kernel: one call here is one request to the model.
 */

import { KeelError } from "../error.js";
import { callLanguageModel } from "./call-language-model.js";
import { callOwnModel } from "./call-own-model.js";

export { readOwnReply } from "./call-own-model.js";

export { describeModelError } from "./describe-model-error.js";

/**
 * @typedef {object} CallOptions what the host gives with one model call
 * @property {AbortSignal} signal usually a lazy getter: it costs nothing for a model that never reads it
 * @property {boolean} [stream] whether deltas are wanted
 * @property {import("../running/clock.js").Clock} [clock]
 * @property {string} [turnId]
 */

/** @typedef {(delta: { type: "text" | "reasoning", text: string }) => void} OnDelta */

/**
 * @param {unknown} model
 * @param {string} where names the place of the definition in the error's message
 */
export function checkModel(model, where) {
  const fault = modelFault(model);
  if (fault) throw new KeelError("MODEL_INVALID", `${where}: ${fault}`);
}

/**
 * The id of a checked model: what `price(usage, modelId)` is asked with.
 *
 * @param {any} model
 * @returns {string}
 */
export function modelId(model) {
  return isLanguageModel(model) ? model.modelId : model.id;
}

/**
 * Asks the model once. Rejects with what the model threw, untouched; `describeModelError` tells what it means.
 *
 * @param {any} model a checked model
 * @param {any} request its `messages` are a `Transcript` or an array of any messages
 * @param {CallOptions} options
 * @param {OnDelta} [onDelta] called for each delta, in order, when `options.stream` is set
 * @returns {Promise<import("./reply.js").NormalisedReply>}
 */
export function callModel(model, request, options, onDelta) {
  const call = isLanguageModel(model) ? callLanguageModel : callOwnModel;
  return call(model, request, options, options.stream ? onDelta : undefined);
}

/** @param {any} model */
export function isLanguageModel(model) {
  return typeof model.doGenerate === "function";
}

/**
 * @param {any} model
 * @returns {string | undefined}
 */
function modelFault(model) {
  const expected =
    "expected an AI SDK language model (specification v2, v3 or v4) or an object { id: string, generate(request, options) }";
  try {
    if (typeof model === "string") {
      return `${expected}, found the string ${JSON.stringify(model)}; model names are resolved by a provider, such as openai("…")`;
    }
    if (model === null || (typeof model !== "object" && typeof model !== "function")) {
      return `${expected}, found ${model === null ? "null" : typeof model}`;
    }
    const version = model.specificationVersion;
    if (version === undefined) return ownModelFault(model, expected);
    if (typeof model.doGenerate !== "function" || typeof model.doStream !== "function") {
      return `${expected}, found an AI SDK object without doGenerate and doStream; a provider is called with a model's name to get one, such as openai("…")`;
    }
    if (!SPECIFICATIONS.has(version)) {
      return `${expected}, found specification ${String(version)}`;
    }
    return typeof model.modelId === "string" ? undefined : `${expected}, found a language model without a modelId`;
  } catch (error) {
    return `${expected}, found an object that cannot be read (${describeThrown(error)})`;
  }
}

/**
 * @param {any} model
 * @param {string} expected
 */
function ownModelFault(model, expected) {
  if (typeof model.generate !== "function") return `${expected}, found an object without generate`;
  if (typeof model.id !== "string" || model.id === "") return `${expected}, found a model without an id`;
  return undefined;
}

/** @param {unknown} error */
function describeThrown(error) {
  try {
    return String(error);
  } catch {
    return typeof error;
  }
}

const SPECIFICATIONS = new Set(["v2", "v3", "v4"]);
