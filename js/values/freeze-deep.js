/**
 * Freezes what came from JSON, all the way down.
 *
 * @template {object} T
 * @param {T} value
 * @returns {T}
 */
export function freezeDeep(value) {
  // Every message passes here: loops over keys are the fastest way to look at all of it.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) freezeWithin(value[index]);
  } else {
    for (const key of Object.keys(value)) freezeWithin(/** @type {any} */ (value)[key]);
  }
  return Object.freeze(value);
}

/** @param {unknown} child */
function freezeWithin(child) {
  if (typeof child === "object" && child !== null) freezeDeep(child);
}
