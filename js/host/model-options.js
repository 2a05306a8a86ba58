/** What a model is called with besides its request. */

/** @import { Clock } from "../running/clock.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

/** Has a `signal` besides what is declared: made when it is first read. */
export class ModelOptions {
  #effect;

  /**
   * @param {{ stream: boolean, clock: Clock, turnId: string }} fields
   * @param {EffectSignal} effect
   */
  constructor({ stream, clock, turnId }, effect) {
    this.stream = stream;
    this.clock = clock;
    this.turnId = turnId;
    this.#effect = effect;
    Object.defineProperty(this, "signal", ModelOptions.#lazily);
  }

  // The object's own, so that a copy has a signal too, yet one getter for all: with a getter of its own each object would
  // get a hidden class of its own, which costs more than the call.
  static #lazily = {
    enumerable: true,
    /** @this {ModelOptions} */
    get() {
      return this.#effect.signal;
    },
  };
}
