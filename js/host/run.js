/**
 * One root turn: what its caller sees of it (the promise of its result, the signal that may stop it, the async context in
 * which its callbacks run, NT-35), and what the host keeps of its tree.
 */

import { AsyncResource } from "node:async_hooks";

import { CommandQueue } from "./command-queue.js";
import { Kept } from "./kept.js";
import { Raised } from "./raised.js";
import { watchSignal } from "./stop-signal.js";
import { Tickets } from "./tickets.js";

/** @import { KeelError } from "../error.js" */
/** @import { Verdict } from "./check-arguments.js" */
/** @import { EffectSignal } from "./effect-signal.js" */
/** @import { Host } from "./host.js" */
/** @import { HostTurn } from "./host-turn.js" */

/** The bits of an effect's id that name its place, which is taken again when it is free: the kernel's `PLACE_BITS`. */
const PLACE = 2 ** 20 - 1;

export class Run {
  /** @type {"running" | "suspended" | "over"} as far as the host has performed it */
  state = "running";

  /** The number of its tree; no tree has the one that it begins with. */
  tree = -1;

  /** @type {KeelError | undefined} the first fault of ours in its tree, of which nothing runs on (D-34) */
  fault;

  /** @type {Promise<any>} */
  result;

  /** @type {readonly any[] | undefined} what it waits for while it is suspended */
  pending;

  commands = new CommandQueue();

  /** @type {(HostTurn | undefined)[]} live turns, by the kernel's key, which a later turn may get again */
  #turns = [];
  /** @type {(EffectSignal | undefined)[]} commands that wait for their answers, by place */
  #effects = [];
  /** @type {Tickets | undefined} */
  #tickets;
  /** @type {Kept | undefined} */
  #kept;
  /** @type {Map<number, readonly (Verdict | undefined)[]> | undefined} what newest answers said of arguments, by command */
  #told;
  /** @type {Raised | undefined} */
  #raised;
  /** @type {Map<string, unknown> | undefined} */
  #modelErrors;

  /** @type {(() => void) | undefined} */
  #cancelTimer;
  #timerAt = Infinity;

  /** @type {{ turnId: string, reason: unknown }[]} the turns that were stopped, with the reasons as they were given */
  #stops = [];

  /** @type {(result: any) => void} */
  #resolve = () => {};
  /** @type {(error: unknown) => void} */
  #reject = () => {};
  // AsyncLocalStorage.snapshot() does the same for ten times the price.
  /** The async context of whoever started this turn. */
  scope = new AsyncResource("keel-native.run");
  #unwatch = () => {};

  /**
   * @param {Host} host
   * @param {object} given
   * @param {string} given.turnId
   * @param {import("./program.js").Program} given.program
   * @param {any} given.identity
   * @param {any} given.ambient
   * @param {readonly any[]} given.middleware
   * @param {any} given.input
   * @param {readonly any[]} given.messages with which it begins, frozen
   * @param {((event: any) => void) | undefined} given.onEvent
   */
  constructor(host, { turnId, program, identity, ambient, middleware, input, messages, onEvent }) {
    this.host = host;
    this.input = input;
    this.messages = messages;
    this.turnId = turnId;
    this.program = program;
    this.identity = identity;
    this.ambient = ambient;
    this.middleware = middleware;
    this.onEvent = onEvent;
    this.result = this.#open();
  }

  /**
   * A suspended run goes on, towards a result of its own.
   *
   * @param {{ ambient: any, onEvent: ((event: any) => void) | undefined }} given
   */
  reopen({ ambient, onEvent }) {
    if (ambient !== undefined) this.ambient = ambient;
    this.onEvent = onEvent;
    this.pending = undefined;
    this.result = this.#open();
  }

  #open() {
    const { promise, resolve, reject } = withResolvers();
    this.#resolve = resolve;
    this.#reject = reject;
    // Nobody has to look at the result.
    promise.catch(() => {});
    return promise;
  }

  /**
   * A live turn of the tree: commands name no other, but for what is let go of with it.
   *
   * @param {number} key
   */
  turn(key) {
    return /** @type {HostTurn} */ (this.#turns[key]);
  }

  /** @param {HostTurn} turn */
  openTurn(turn) {
    this.#turns[turn.key] = turn;
  }

  /** @param {HostTurn} turn */
  closeTurn(turn) {
    this.#raised?.forget(turn);
    this.#turns[turn.key] = undefined;
  }

  /**
   * A command will be answered.
   *
   * @param {EffectSignal} effect
   */
  expect(effect) {
    this.#effects[effect.id & PLACE] = effect;
  }

  /**
   * A command is answered, or nobody waits for its answer any longer.
   *
   * @param {number} id
   */
  takeEffect(id) {
    const effect = this.#effects[id & PLACE];
    this.#effects[id & PLACE] = undefined;
    return effect;
  }

  /** Promises that wait for the kernel. */
  get tickets() {
    return (this.#tickets ??= new Tickets());
  }

  /** What was made of the arguments of calls that are not yet run, or the promise of it. */
  get kept() {
    return (this.#kept ??= new Kept());
  }

  /**
   * An answer says what was made of arguments. Its command may be cancelled all the same: at the very moment of the answer,
   * or before, where that is not performed yet.
   *
   * @param {number} id
   * @param {readonly (Verdict | undefined)[]} checks
   */
  noteTold(id, checks) {
    this.#told ??= new Map();
    this.#told.set(id, checks);
  }

  /** All cancellations that crossed with an answer are performed. */
  forgetTold() {
    this.#told?.clear();
  }

  /**
   * Nobody waits for an answer any longer, or reads the one that was given.
   *
   * @param {number} id
   * @param {string} code
   * @param {string} message
   */
  cancel(id, code, message) {
    this.takeEffect(id)?.cancel(code, message);
    this.letGo(this.#told?.get(id) ?? []);
  }

  /**
   * The kernel does not know of what is kept for these.
   *
   * @param {readonly (Verdict | undefined)[]} checks
   */
  letGo(checks) {
    for (const check of checks) if (typeof check === "object") this.kept.take(check.kept);
  }

  get raised() {
    return (this.#raised ??= new Raised());
  }

  /** What was thrown by a model, by the turn that failed of it: for the result's `cause`, never for a record. */
  get modelErrors() {
    return (this.#modelErrors ??= new Map());
  }

  /**
   * Arms the one timer for the tree's earliest deadline.
   *
   * @param {number} at
   */
  wakeAt(at) {
    if (at >= this.#timerAt) return;
    this.#cancelTimer?.();
    this.#timerAt = at;
    this.#cancelTimer = this.host.clock.setTimer(at, () => {
      this.#timerAt = Infinity;
      this.#cancelTimer = undefined;
      this.host.input(this, "tick");
    });
  }

  /**
   * @param {string} turnId
   * @param {unknown} reason
   */
  noteStop(turnId, reason) {
    if (!this.stopOf(turnId)) this.#stops.push({ turnId, reason });
  }

  /**
   * The stop that reaches a turn: the first of its own and those of the turns above it, whose ids its own begins with.
   *
   * @param {string} turnId
   */
  stopOf(turnId) {
    return this.#stops.find((stop) => turnId === stop.turnId || turnId.startsWith(`${stop.turnId}.`));
  }

  /**
   * @param {AbortSignal | undefined} signal
   * @param {(reason: unknown) => void} stop
   */
  watch(signal, stop) {
    if (signal) this.#unwatch = watchSignal(signal, () => stop(signal.reason));
  }

  /** @param {any} result of a run that is over, or stands still */
  settle(result) {
    this.#resolve(result);
    this.#standDown();
  }

  /**
   * The kernel ends it no more: it fails, and whatever still works or waits for it is cut off.
   *
   * @param {KeelError} error a fault of ours
   */
  fail(error) {
    this.#reject(error);
    for (const effect of this.#effects) effect?.cancel(error.code, error.message);
    this.#effects = [];
    this.cutOffTickets();
    this.#standDown();
  }

  /** The kernel answers none of the promises that are left. */
  cutOffTickets() {
    this.#tickets?.cutOff();
  }

  /** Neither a signal nor a moment is waited for. */
  #standDown() {
    this.#unwatch();
    this.#timerAt = Infinity;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

// Promise.withResolvers is not in Node 20.
function withResolvers() {
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {(error: unknown) => void} */
  let reject = () => {};
  const promise = new Promise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
