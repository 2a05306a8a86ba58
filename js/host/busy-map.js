/**
 * A map that is nearly empty and changes all the time. An ordinary Map that is filled and emptied over and over rebuilds
 * its table every few entries; this one forgets what is gone in batches.
 *
 * @template V
 */
export class BusyMap {
  /** @type {Map<number, V | typeof GONE>} */
  #entries = new Map();
  #gone = 0;

  /**
   * @param {number} key never used again once it is deleted
   * @param {V} value
   */
  set(key, value) {
    this.#entries.set(key, value);
  }

  /** @param {number} key */
  has(key) {
    return this.#entries.has(key) && this.#entries.get(key) !== GONE;
  }

  /**
   * @param {number} key
   * @returns {V | undefined}
   */
  get(key) {
    const value = this.#entries.get(key);
    return value === GONE ? undefined : /** @type {V | undefined} */ (value);
  }

  /**
   * @param {number} key
   * @returns {boolean} whether it was there
   */
  delete(key) {
    if (!this.has(key)) return false;
    this.#entries.set(key, GONE);
    this.#gone += 1;
    if (this.#gone >= BATCH && this.#gone * 2 >= this.#entries.size) this.#forget();
    return true;
  }

  #forget() {
    const entries = new Map();
    for (const [key, value] of this.#entries) if (value !== GONE) entries.set(key, value);
    this.#entries = entries;
    this.#gone = 0;
  }
}

const GONE = Symbol("gone");
const BATCH = 64;
