/**
 * The messages of one turn, as its model is sent them. They are frozen all the way down and only ever appended to, so a
 * step needs to look at none of the earlier ones.
 */
export class Transcript {
  /** @type {any[]} */
  messages = [];
}
