/**
 * What a model is handed must not lead back to what the agent and the transcript hold. Messages and tools live as long
 * as their turn and are sent with every step, so they are copied once and frozen; settings are small and copied per call.
 */

import { convertGrowing } from "./growing-list.js";
import { messageSnapshot } from "./message-snapshot.js";
import { Transcript } from "./transcript.js";

/**
 * The request as our own kind of model gets it.
 *
 * @param {any} request
 */
export function detachedRequest(request) {
  const copy = { ...request };
  for (const key of Object.keys(copy)) {
    if (key === "messages") copy[key] = detachedMessages(copy[key]);
    else if (key === "tools" && copy[key] !== undefined) copy[key] = detachedTools(copy[key]);
    else copy[key] = detached(copy[key]);
  }
  return copy;
}

/** @param {Transcript | any[]} given */
function detachedMessages(given) {
  return given instanceof Transcript ? messageSnapshot(given.messages) : frozenMessages(given);
}

/** @param {any[]} tools */
export function detachedTools(tools) {
  return frozenTools(tools);
}

/**
 * A copy of plain objects and arrays, all the way down; what else there is (functions, URLs) is shared.
 *
 * @template T
 * @param {T} value
 * @returns {T}
 */
export function detached(value) {
  return copied(value, same);
}

/**
 * The same, frozen all the way down.
 *
 * @template T
 * @param {T} value
 * @returns {T}
 */
export function frozenCopy(value) {
  return copied(value, Object.freeze);
}

/** @param {any} value */
const frozenForm = (value) => (isDeeplyFrozen(value) ? value : frozenCopy(value));

const frozenMessages = convertGrowing(frozenForm);
const frozenTools = convertGrowing(frozenForm);

/**
 * @param {any} value
 * @returns {boolean}
 */
function isDeeplyFrozen(value) {
  if (value === null || typeof value !== "object") return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}

/**
 * @param {any} value
 * @param {(copy: any) => any} seal
 * @returns {any}
 */
function copied(value, seal) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return seal(value.map((item) => copied(item, seal)));
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
  if (!isPlain(value)) return value;
  // fromEntries defines properties, so that a key called __proto__ stays a key.
  return seal(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copied(item, seal)])));
}

/**
 * Plain in any realm: no prototype, or one that has none itself.
 *
 * @param {object} value
 */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {any} value */
const same = (value) => value;
