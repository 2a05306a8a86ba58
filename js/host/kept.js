/**
 * What is kept for the kernel under a number, until it is taken or released: what was made of the arguments of a call, or the
 * promise of it.
 */
export class Kept {
  /** @type {unknown[]} */
  #values = [];
  /** @type {number[]} */
  #free = [];

  /** @param {unknown} value */
  keep(value) {
    const number = this.#free.pop() ?? this.#values.length;
    this.#values[number] = value;
    return number;
  }

  /** @param {number} number */
  get(number) {
    return this.#values[number];
  }

  /** @param {number} number */
  take(number) {
    const value = this.#values[number];
    this.#values[number] = undefined;
    this.#free.push(number);
    return value;
  }
}
