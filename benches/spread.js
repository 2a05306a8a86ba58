/** Figures of several rounds as one: the median, and between what they lie. */

/** @typedef {{ median: number, least: number, most: number }} Spread */

/**
 * @param {readonly (number | undefined)[]} figures those of the rounds that have one
 * @returns {Spread | undefined} undefined when no round has one
 */
export function spreadOf(figures) {
  const known = figures.filter((figure) => figure !== undefined);
  if (known.length === 0) return undefined;
  return { median: median(known), least: Math.min(...known), most: Math.max(...known) };
}

/** @param {readonly number[]} figures at least one */
export function median(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  const upper = /** @type {number} */ (sorted[sorted.length >> 1]);
  const lower = /** @type {number} */ (sorted[(sorted.length - 1) >> 1]);
  return (lower + upper) / 2;
}
