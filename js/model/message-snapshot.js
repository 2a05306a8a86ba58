/**
 * A turn's messages as they stand at one step, for a model that may keep them: what later steps append does not show.
 */

/** Lists up to this many messages are copied, longer ones are looked at: a step must not cost what the turn has said so far. */
const COPIED_MAX = 1024;

/**
 * @param {any[]} messages frozen, and only ever appended to
 * @returns {readonly any[]} an array, or what reads like one
 */
export function messageSnapshot(messages) {
  return messages.length <= COPIED_MAX ? messages.slice() : new Proxy(messages, new FirstOf(messages.length));
}

/** Shows the first of a list, and lets nobody write. */
class FirstOf {
  /** @param {number} length */
  constructor(length) {
    this.length = length;
  }

  /**
   * @param {any} list
   * @param {string | symbol} key
   */
  get(list, key) {
    if (key === "length") return this.length;
    return this.#hides(key) ? undefined : list[key];
  }

  /**
   * @param {any} list
   * @param {string | symbol} key
   */
  has(list, key) {
    return key in list && !this.#hides(key);
  }

  /** @param {any} list */
  ownKeys(list) {
    return Reflect.ownKeys(list).filter((key) => !this.#hides(key));
  }

  /**
   * @param {any} list
   * @param {string | symbol} key
   */
  getOwnPropertyDescriptor(list, key) {
    if (this.#hides(key)) return undefined;
    const descriptor = Reflect.getOwnPropertyDescriptor(list, key);
    return key === "length" ? { ...descriptor, value: this.length } : descriptor;
  }

  set() {
    return false;
  }

  defineProperty() {
    return false;
  }

  deleteProperty() {
    return false;
  }

  setPrototypeOf() {
    return false;
  }

  preventExtensions() {
    return false;
  }

  /** @param {string | symbol} key */
  #hides(key) {
    return typeof key === "string" && Number(key) >= this.length;
  }
}
