import { freezeDeep } from "../freeze-deep.js";

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
