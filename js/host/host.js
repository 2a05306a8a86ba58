/**
 * The host: performs what the kernel commands and feeds it what happened. It decides nothing about agents; whatever a
 * turn may do, spend or return is settled in the kernel. One host serves one keel, whose engine has a kernel for each tree.
 *
 * One input goes in, the commands that follow come out at once and are performed in order.
 */

import { native } from "../binding/native.js";
import { isWellFormed, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { FINISH_REASONS } from "../model/finish-reason.js";
import { systemClock } from "../running/clock.js";
import { KeepAlive } from "./keep-alive.js";
import { Performer } from "./performer.js";
import { tellParts } from "./reply-parts.js";
import { thrown } from "./tool-answer.js";

/** @import { Clock } from "../running/clock.js" */
/** @import { EffectSignal } from "./effect-signal.js" */
/** @import { Run } from "./run.js" */

/** Room for the numbers of one input: the time, the tree, and what there is besides. */
const NUMBERS = 16;
const TIME = 0;
const TREE = 1;
const BESIDES = 2;

/** Room for the words of the commands that mostly follow an input. */
const WORDS = 256;

/** How much of a fault's message its tree's outcome tells. */
const FAULT_MAX = 2_000;

/** Hosts that nobody refers to any longer take their engines with them. */
const collected = new FinalizationRegistry((/** @type {number} */ engine) => native.closeEngine(engine));

export class Host {
  /** @type {Clock} */
  clock;

  /** @type {any} */
  options;

  /**
   * The last of every kind of object that a step is made of. If none of a kind were alive between two runs, a full
   * collection would take its hidden class and all code compiled for it, and the next runs would cost twice as much.
   *
   * @type {Record<string, unknown>}
   */
  samples = {};

  /** @type {Map<string, Run>} those that are not over, from before the kernel is told of them, by the ids of their root turns */
  #runs = new Map();
  /** How many of them are not suspended. */
  #running = 0;
  #keepAlive = new KeepAlive();
  #performer = new Performer();

  #engine;
  /** What crosses beside strings on its way in. */
  #numbers = new Float64Array(new ArrayBuffer(8 * NUMBERS));
  /** The rows of commands of the newest input. */
  #words = new Int32Array(new ArrayBuffer(4 * WORDS));

  /**
   * @param {any} options of the keel
   * @param {string} engineOptions
   */
  constructor(options, engineOptions) {
    this.options = options;
    this.clock = options.clock;
    this.#engine = native.openEngine(engineOptions, this.#numbers, this.#words);
    collected.register(this, this.#engine);
  }

  get runs() {
    return this.#runs.values();
  }

  /**
   * The run of a turn, whether or not there is such a turn in it.
   *
   * @param {unknown} turnId
   */
  runOf(turnId) {
    if (typeof turnId !== "string" || !isWellFormed(turnId)) return undefined;
    const end = turnId.indexOf(".");
    return this.#runs.get(end < 0 ? turnId : turnId.slice(0, end));
  }

  /**
   * Opens a root turn.
   *
   * @param {Run} run
   * @param {{ authenticated: boolean, input: string | undefined, rest: string | undefined }} start the kernel's `Start`: a
   *   plain input, and what there is besides, as JSON text
   */
  start(run, { authenticated, input, rest }) {
    this.#runs.set(run.turnId, run);
    this.#wake(run);
    let left;
    try {
      const wallNow = this.clock.wallNow();
      if (!Number.isFinite(wallNow)) throw optionInvalid("clock.wallNow()", "a finite number of milliseconds", wallNow);
      this.#arrive(run);
      const numbers = this.#numbers;
      numbers[BESIDES] = wallNow - numbers[TIME];
      numbers[BESIDES + 1] = authenticated ? 1 : 0;
      numbers[BESIDES + 2] = run.onEvent === undefined ? 0 : 1;
      left = native.start(this.#engine, run.program.native, run.turnId, input, rest);
      run.tree = numbers[TREE];
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * A suspended run goes on.
   *
   * @param {Run} run
   * @param {object} decisions by the id of what is pending
   * @param {{ reason: unknown } | null} stopped a stop that came first: nothing is decided then
   */
  resume(run, decisions, stopped) {
    this.#wake(run);
    this.input(run, "resume", { stream: run.onEvent !== undefined, decisions, stopped });
  }

  /**
   * Answers a command, once; what comes after a cancellation is dropped here.
   *
   * @param {EffectSignal} effect
   * @param {string} text
   */
  answer(effect, text) {
    if (!effect.isOpen) return;
    const { run } = effect.turn;
    this.#close(effect, run);
    let left;
    try {
      this.#arrive(run);
      left = native.answer(this.#engine, effect.id, text);
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * Answers a command of which there is nothing to say: nothing is in the way.
   *
   * @param {EffectSignal} effect
   */
  nothing(effect) {
    if (!effect.isOpen) return;
    const { run } = effect.turn;
    this.#close(effect, run);
    let left;
    try {
      this.#arrive(run);
      left = native.nothing(this.#engine, effect.id);
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * Answers a command that calls a model.
   *
   * @param {EffectSignal} effect
   * @param {import("../model/reply.js").NormalisedReply} reply
   * @param {readonly (import("./check-arguments.js").Verdict | undefined)[]} checks of its calls, in their order
   */
  reply(effect, { content, finishReason, usage }, checks) {
    const { run, agent } = effect.turn;
    if (!effect.isOpen) {
      run.letGo(checks);
      return;
    }
    this.#close(effect, run);
    const engine = this.#engine;
    let left;
    try {
      tellParts(engine, agent, content, checks);
      if (checks.some(isKept)) run.noteTold(effect.id, checks);
      this.#arrive(run);
      const numbers = this.#numbers;
      numbers[BESIDES] = usage.inputTokens;
      numbers[BESIDES + 1] = usage.outputTokens;
      numbers[BESIDES + 2] = usage.totalTokens;
      numbers[BESIDES + 3] = usage.cacheReadTokens ?? NaN;
      numbers[BESIDES + 4] = usage.reasoningTokens ?? NaN;
      numbers[BESIDES + 5] = /** @type {any} */ (usage).costUsd ?? NaN;
      left = native.reply(engine, effect.id, FINISH_REASONS.indexOf(finishReason));
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * Answers a call with the plain value that its body returned, as JSON text.
   *
   * @param {EffectSignal} effect
   * @param {string} value
   */
  result(effect, value) {
    if (!effect.isOpen) return;
    const { run } = effect.turn;
    this.#close(effect, run);
    let left;
    try {
      this.#arrive(run);
      left = native.result(this.#engine, effect.id, value);
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * A body calls a tool.
   *
   * @param {EffectSignal} effect
   * @param {number} ticket
   * @param {number} tool its position
   * @param {string} args
   * @param {import("./check-arguments.js").Kept | undefined} check
   */
  callTool(effect, ticket, tool, args, check) {
    const { run } = effect.turn;
    const kept = check === undefined ? -1 : check.kept;
    const exclusive = check === undefined ? -1 : check.exclusive;
    let left;
    try {
      this.#arrive(run);
      left = native.callTool(this.#engine, effect.id, ticket, tool, args, kept, exclusive);
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * Tells the kernel what a command sends before its answer.
   *
   * @param {EffectSignal} effect
   * @param {string} type
   * @param {string} body JSON text
   */
  letter(effect, type, body) {
    const { run } = effect.turn;
    let left;
    try {
      this.#arrive(run);
      left = native.letter(this.#engine, effect.id, `{"type":"${type}","body":${body}}`);
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * Tells the kernel what else happened to a tree.
   *
   * @param {Run} run
   * @param {string} type
   * @param {object} [body]
   */
  input(run, type, body) {
    let left;
    try {
      const text = JSON.stringify({ type, body });
      this.#arrive(run);
      left = native.input(this.#engine, text);
    } catch (error) {
      this.fault(run, error);
      return;
    }
    this.#take(run, left);
  }

  /**
   * Looks something up; changes nothing.
   *
   * @param {string} type
   * @param {any} body
   * @param {Run} [run] whose tree is asked about, where the body names no turn of it
   * @returns {any}
   */
  query(type, body, run = this.runOf(body.turnId)) {
    const now = this.clock.now();
    // No tree has the number -1: what is over is looked for then.
    this.#numbers[TREE] = run === undefined ? -1 : run.tree;
    return JSON.parse(native.query(this.#engine, JSON.stringify({ type, body }), now));
  }

  /**
   * A fault of the kernel or of its host ends the tree that it happened in, and no other (D-34).
   *
   * @param {Run} run
   * @param {unknown} cause
   */
  fault(run, cause) {
    // What cannot be told any more need not be: the tree is ending.
    if (run.fault !== undefined) return;
    run.fault = faultOf(cause);
    let left;
    try {
      this.#numbers[TREE] = run.tree;
      left = native.fault(this.#engine, thrown(cause).message.slice(0, FAULT_MAX));
    } catch (error) {
      this.giveUp(run, error);
      return;
    }
    if (left !== 0) this.#receive(run, left);
    this.#performer.perform(run);
  }

  /**
   * Not even the end of a tree could be told or performed: its run is rejected.
   *
   * @param {Run} run
   * @param {unknown} cause
   */
  giveUp(run, cause) {
    run.fault ??= faultOf(cause);
    run.commands.clear();
    this.#leave(run);
    this.rest(run, "over");
    try {
      run.fail(run.fault);
    } catch {
      // A signal or a clock of the user's own that cannot be let go of: what they tell of this run finds nobody.
    }
  }

  /**
   * A root turn is over, or stands still: it keeps no process alive.
   *
   * @param {Run} run
   * @param {"suspended" | "over"} state
   */
  rest(run, state) {
    if (run.state === "running") {
      this.#running -= 1;
      if (this.#running === 0) this.#keepAlive.stop();
    }
    run.state = state;
  }

  /**
   * All that was commanded of a run is performed.
   *
   * @param {Run} run
   */
  drained(run) {
    run.forgetTold();
    if (run.state === "over") {
      // Of what was told when the fault came the kernel has not heard.
      if (run.fault !== undefined) run.cutOffTickets();
      this.#leave(run);
    } else if (run.fault !== undefined) {
      this.giveUp(run, run.fault);
    }
  }

  /**
   * Resolves when what was commanded of a run so far is performed.
   *
   * @param {Run} run
   */
  async caughtUp(run) {
    while (!run.commands.isEmpty) await new Promise((resolve) => setImmediate(resolve));
  }

  /** @param {Run} run */
  #wake(run) {
    run.state = "running";
    this.#running += 1;
    this.#keepAlive.start();
  }

  /**
   * Nobody asks for the tree by its number any longer.
   *
   * @param {Run} run
   */
  #leave(run) {
    if (!this.#runs.delete(run.turnId)) return;
    this.#numbers[TREE] = run.tree;
    try {
      native.release(this.#engine);
    } catch {
      // Its caller has the result, or is about to get the fault before this one.
    }
  }

  /**
   * The command is answered.
   *
   * @param {EffectSignal} effect
   * @param {Run} run
   */
  #close(effect, run) {
    effect.isOpen = false;
    run.takeEffect(effect.id);
  }

  /**
   * An input arrives: the kernel is told the time and the tree with it.
   *
   * @param {Run} run
   */
  #arrive(run) {
    const { clock } = this;
    const numbers = this.#numbers;
    const arrivedAt = performance.now();
    this.#performer.arrivedAt = arrivedAt;
    if (clock === systemClock) {
      numbers[TIME] = arrivedAt;
    } else {
      clock.noteInput?.();
      const now = clock.now();
      if (!Number.isFinite(now)) throw optionInvalid("clock.now()", "a finite number of milliseconds", now);
      numbers[TIME] = now;
    }
    // A clock of the user's own may have told us something itself.
    numbers[TREE] = run.tree;
  }

  /**
   * Takes the commands that follow an input, and performs them.
   *
   * @param {Run} run
   * @param {number} left how many words the kernel left; negative where texts belong to them
   */
  #take(run, left) {
    if (left === 0) return;
    this.#receive(run, left);
    this.#performer.perform(run);
  }

  /**
   * @param {Run} run
   * @param {number} left
   */
  #receive(run, left) {
    const count = left < 0 ? -left : left;
    try {
      if (count > this.#words.length) {
        this.#words = new Int32Array(new ArrayBuffer(8 * count));
        native.more(this.#engine, this.#words);
      }
      if (left < 0) run.commands.addTexts(native.texts(this.#engine));
      run.commands.add(this.#words, count);
    } catch (error) {
      // What was to be performed is lost, and its end with it.
      this.giveUp(run, error);
    }
  }
}

/** @param {unknown} cause */
function faultOf(cause) {
  return new KeelError("INTERNAL", `the kernel failed: ${thrown(cause).message}`, { cause });
}

/** @param {import("./check-arguments.js").Verdict | undefined} check */
function isKept(check) {
  return typeof check === "object";
}
