/** What every callback of a turn but its tools and model is told. */

/** @import { HostTurn } from "./host-turn.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

const EFFECT = Symbol("effect");

/** Has a `signal` besides what is set here: made when it is first read. */
export class TurnContext {
  /**
   * @param {HostTurn} turn
   * @param {EffectSignal | undefined} effect the work that the callback is part of
   */
  constructor(turn, effect) {
    Object.assign(this, turn.facts);
    if (turn.workspace) this.workspace = turn.workspace;
    // Under a symbol, so that what wraps or inherits from a context has a signal, too.
    Object.defineProperty(this, EFFECT, { value: effect });
    Object.defineProperty(this, "signal", TurnContext.#lazily);
    Object.freeze(this);
  }

  // One getter for all, as for the options of a model.
  static #lazily = {
    enumerable: true,
    /** @this {any} */
    get() {
      return this[EFFECT]?.signal;
    },
  };
}
