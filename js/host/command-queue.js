/**
 * What the kernel commanded of one tree and is not performed yet: rows of numbers, and the texts that belong to them.
 */

/** In place of a text: the host has what it would say. */
export const OWN = -2;

/** Room for the words of the commands that mostly follow an input; a thousand trees at once have it each. */
const WORDS = 64;

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);

export class CommandQueue {
  /** The rows that wait lie from `next` to `end`. */
  rows = new Int32Array(WORDS);
  next = 0;
  end = 0;
  /** @type {string[]} the first has the number after `textBase` */
  texts = [];
  textBase = 0;

  get isEmpty() {
    return this.next === this.end;
  }

  /**
   * Takes over the rows that follow an input.
   *
   * @param {Int32Array} words
   * @param {number} count how many of them
   */
  add(words, count) {
    if (this.end + count > this.rows.length) this.#makeRoom(count);
    const { rows, end } = this;
    for (let index = 0; index < count; index += 1) rows[end + index] = words[index];
    this.end = end + count;
  }

  /** @param {string | string[]} texts a single one as it is */
  addTexts(texts) {
    if (typeof texts === "string") this.texts.push(texts);
    else for (const text of texts) this.texts.push(text);
  }

  /** Nothing waits any longer. */
  clear() {
    this.next = 0;
    this.end = 0;
    if (this.texts.length > 0) {
      this.textBase += this.texts.length;
      this.texts = [];
    }
  }

  /**
   * What a field holds that is JSON text.
   *
   * @param {number} field
   * @returns {any} undefined where it holds nothing
   */
  text(field) {
    return field <= 0 ? undefined : JSON.parse(this.rawText(field));
  }

  /**
   * The text of a field as it is.
   *
   * @param {number} field
   */
  rawText(field) {
    return this.texts[field - this.textBase - 1];
  }

  /**
   * The number that two fields hold.
   *
   * @param {number} at
   */
  double(at) {
    halves[0] = this.rows[at];
    halves[1] = this.rows[at + 1];
    return double[0];
  }

  /** @param {number} count */
  #makeRoom(count) {
    const waiting = this.rows.subarray(this.next, this.end);
    // A row that is being performed may still be read from the array that it came in.
    const rows = new Int32Array(Math.max(this.rows.length, 2 * (waiting.length + count)));
    rows.set(waiting);
    this.rows = rows;
    this.end -= this.next;
    this.next = 0;
  }
}
