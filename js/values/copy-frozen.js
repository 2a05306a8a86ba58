/**
 * A copy of what came from JSON, frozen all the way down.
 *
 * @template T
 * @param {T} value
 * @returns {T}
 */
export function copyFrozen(value) {
  return typeof value === "object" && value !== null ? copied(value) : value;
}

/** @param {any} value */
function copied(value) {
  // A spread defines properties, so that a key called __proto__ stays a key, and shares the hidden class.
  const copy = Array.isArray(value) ? value.slice() : { ...value };
  for (const key in copy) {
    const child = copy[key];
    if (typeof child === "object" && child !== null) replace(copy, key, copied(child));
  }
  return Object.freeze(copy);
}

/**
 * @param {any} copy
 * @param {string} key
 * @param {unknown} child
 */
function replace(copy, key, child) {
  if (key === "__proto__") Object.defineProperty(copy, key, { value: child });
  else copy[key] = child;
}
