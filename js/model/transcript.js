/**
 * The messages of one turn, as its model is sent them. They are frozen all the way down and only ever appended to, so a
 * step needs to look at none of the earlier ones.
 */
export class Transcript {
  /** @type {any[]} */
  messages = [];

  /** @param {any[]} messages fresh from JSON: nobody else has them yet */
  append(messages) {
    for (const message of messages) this.messages.push(freezeDeep(message));
  }
}

/**
 * @template {object} T
 * @param {T} value
 * @returns {T}
 */
function freezeDeep(value) {
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
