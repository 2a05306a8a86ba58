/**
 * The host: performs what the kernel commands and feeds it what happened. It decides nothing about agents; whatever a
 * turn may do, spend or return is settled in the kernel. One host serves one keel.
 *
 * One input goes in, the commands that follow come out at once and are performed in order; a command that calls user code
 * synchronously may bring further inputs, whose commands queue up behind.
 */

import { native } from "../binding/native.js";
import { systemClock } from "../running/clock.js";
import { KeelError } from "../error.js";
import { KeepAlive } from "./keep-alive.js";
import { Kept } from "./kept.js";
import { FINISH_REASONS } from "../model/finish-reason.js";
import { PLACE } from "./answering.js";
import { checkText } from "./check-arguments.js";
import { perform } from "./perform.js";
import { Raised } from "./raised.js";
import { Tickets } from "./tickets.js";

/** @import { Clock } from "../running/clock.js" */
/** @import { Run } from "./run.js" */
/** @import { HostTurn } from "./host-turn.js" */

/** @import { EffectSignal } from "./effect-signal.js" */

/** How long commands are performed before timers, signals and other work get their turn (D-36). */
const SLICE_MS = 10;

/** Room for the numbers of one input. */
const NUMBERS = 8;

/** Room for the words of the commands that mostly follow an input. */
const WORDS = 256;

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);

/** Hosts that nobody refers to any longer take their kernels with them. */
const collected = new FinalizationRegistry((/** @type {number} */ kernel) => native.closeKernel(kernel));

export class Host {
  /** @type {Set<Run>} live root turns */
  runs = new Set();

  /** @type {Run[]} those that the kernel was told of and whose `open` is not performed yet, in order */
  starting = [];

  /** @type {(HostTurn | undefined)[]} live turns, by the kernel's key, which a later turn may get again */
  #turns = [];

  /** @type {Map<string, readonly any[]>} what suspended root turns wait for */
  pending = new Map();

  /** Promises that wait for the kernel. */
  tickets = new Tickets();

  raised = new Raised();

  /** @type {(EffectSignal | undefined)[]} commands that wait for their answers, by place */
  effects = [];

  /** What was made of the arguments of calls that are not yet run, or the promise of it. */
  kept = new Kept();

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

  #kernel;
  /** What crosses beside strings: numbers on their way in, the time first. */
  #numbers = new Float64Array(new ArrayBuffer(8 * NUMBERS));
  /** The rows of commands of the newest input. */
  #words = new Int32Array(new ArrayBuffer(4 * WORDS));
  /** Rows that wait to be performed, from `#next` to `#end`. */
  rows = new Int32Array(4 * WORDS);
  #next = 0;
  #end = 0;
  /** @type {string[]} texts that belong to those rows; the first has the number after `#textBase` */
  #texts = [];
  #textBase = 0;
  #performing = false;
  #yielding = false;
  #sliceBegan = 0;
  /** When the newest input came, in real time: what is performed next follows from it. */
  #arrivedAt = 0;
  /** @type {(() => void) | undefined} */
  #cancelTimer;
  #timerAt = Infinity;
  #keepAlive = new KeepAlive();

  /**
   * @param {any} options of the keel
   * @param {string} kernelOptions
   */
  constructor(options, kernelOptions) {
    this.options = options;
    this.clock = options.clock;
    this.#kernel = native.openKernel(kernelOptions, this.#numbers, this.#words);
    collected.register(this, this.#kernel);
  }

  /**
   * Opens a root turn.
   *
   * @param {Run} run
   * @param {any} program
   * @param {{ wallOffsetMs: number, authenticated: boolean, input: string | undefined, rest: string | undefined }} start the kernel's
   *   `Start`: a plain input, and what there is besides, as JSON text
   */
  start(run, program, { wallOffsetMs, authenticated, input, rest }) {
    this.#keep(run);
    this.starting.push(run);
    const numbers = this.#numbers;
    numbers[1] = wallOffsetMs;
    numbers[2] = authenticated ? 1 : 0;
    numbers[3] = run.onEvent === undefined ? 0 : 1;
    try {
      this.#arrive();
      this.#take(native.start(this.#kernel, program, run.turnId, input, rest));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * A suspended run goes on.
   *
   * @param {Run} run
   * @param {object} decisions by the id of what is pending
   * @param {{ reason: unknown } | null} stopped a stop that came first: nothing is decided then
   */
  resume(run, decisions, stopped) {
    this.pending.delete(run.turnId);
    this.#keep(run);
    this.input("resume", { turnId: run.turnId, stream: run.onEvent !== undefined, decisions, stopped });
  }

  /**
   * Answers a command, once; what comes after a cancellation is dropped here.
   *
   * @param {EffectSignal} effect
   * @param {string} text
   */
  answer(effect, text) {
    if (!effect.isOpen) return;
    this.#close(effect);
    try {
      this.#arrive();
      this.#take(native.answer(this.#kernel, effect.id, text));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Answers a command that calls a model.
   *
   * @param {EffectSignal} effect
   * @param {import("../model/reply.js").NormalisedReply} reply
   * @param {readonly (import("./check-arguments.js").Verdict | undefined)[]} checks of its calls, in their order
   */
  reply(effect, { content, finishReason, usage }, checks) {
    if (!effect.isOpen) {
      for (const check of checks) if (typeof check === "object") this.kept.take(check.kept);
      return;
    }
    this.#close(effect);
    const kernel = this.#kernel;
    try {
      const { toolsById } = effect.turn.agent;
      let calls = 0;
      for (const part of content) {
        if (part.type !== "tool-call") {
          if (part.type === "text" && part.providerOptions === undefined) native.say(kernel, part.text);
          else native.sayOther(kernel, JSON.stringify(part));
          continue;
        }
        const isOurs = part.providerExecuted === undefined;
        const check = isOurs ? checks[calls] : undefined;
        if (isOurs) calls += 1;
        const tool = toolsById.get(part.toolName);
        if (tool !== undefined && isOurs && part.providerOptions === undefined && typeof check !== "string") {
          const kept = check === undefined ? -1 : check.kept;
          native.call(kernel, part.toolCallId, tool.index, part.input, kept, check === undefined ? -1 : check.exclusive);
        } else {
          const options = part.providerOptions === undefined ? undefined : JSON.stringify(part.providerOptions);
          const text = check === undefined || typeof check === "string" ? check : checkText(check);
          native.callWith(kernel, part.toolCallId, part.toolName, part.input, !isOurs, options, text);
        }
      }
      const numbers = this.#numbers;
      numbers[1] = usage.inputTokens;
      numbers[2] = usage.outputTokens;
      numbers[3] = usage.totalTokens;
      numbers[4] = usage.cacheReadTokens ?? NaN;
      numbers[5] = usage.reasoningTokens ?? NaN;
      numbers[6] = /** @type {any} */ (usage).costUsd ?? NaN;
      this.#arrive();
      this.#take(native.reply(kernel, effect.id, FINISH_REASONS.indexOf(finishReason)));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Answers a call with the plain value that its body returned, as JSON text.
   *
   * @param {EffectSignal} effect
   * @param {string} value
   */
  result(effect, value) {
    if (!effect.isOpen) return;
    this.#close(effect);
    try {
      this.#arrive();
      this.#take(native.result(this.#kernel, effect.id, value));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * A body calls a tool.
   *
   * @param {number} id
   * @param {number} ticket
   * @param {number} tool its position
   * @param {string} args
   * @param {import("./check-arguments.js").Kept | undefined} check
   */
  callTool(id, ticket, tool, args, check) {
    const kept = check === undefined ? -1 : check.kept;
    try {
      this.#arrive();
      this.#take(native.callTool(this.#kernel, id, ticket, tool, args, kept, check === undefined ? -1 : check.exclusive));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Tells the kernel that something happened.
   *
   * @param {string} type
   * @param {object} [body]
   */
  input(type, body) {
    this.inputText(type, body === undefined ? undefined : JSON.stringify(body));
  }

  /**
   * The same with a body that is JSON text already.
   *
   * @param {string} type
   * @param {string} [body]
   */
  inputText(type, body) {
    const text = body === undefined ? `{"type":"${type}"}` : `{"type":"${type}","body":${body}}`;
    try {
      this.#arrive();
      this.#take(native.input(this.#kernel, text));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Looks something up; changes nothing.
   *
   * @param {string} type
   * @param {object} body
   * @returns {any}
   */
  query(type, body) {
    return JSON.parse(native.query(this.#kernel, JSON.stringify({ type, body }), this.clock.now()));
  }

  /**
   * Arms the one timer for the kernel's earliest deadline.
   *
   * @param {number} at
   */
  wakeAt(at) {
    if (at >= this.#timerAt) return;
    this.#cancelTimer?.();
    this.#timerAt = at;
    this.#cancelTimer = this.clock.setTimer(at, () => {
      this.#timerAt = Infinity;
      this.#cancelTimer = undefined;
      this.input("tick");
    });
  }

  /**
   * A live turn: commands name no other, but for what is let go of with it.
   *
   * @param {number} key
   */
  turn(key) {
    return /** @type {HostTurn} */ (this.#turns[key]);
  }

  /** @param {string} turnId */
  findTurnById(turnId) {
    return this.#turns.find((turn) => turn?.turnId === turnId);
  }

  get liveRuns() {
    return new Set(this.#turns.flatMap((turn) => turn?.run ?? []));
  }

  /** @param {HostTurn} turn */
  openTurn(turn) {
    this.#turns[turn.key] = turn;
  }

  /**
   * The number that two fields of a row hold.
   *
   * @param {number} at
   */
  double(at) {
    halves[0] = /** @type {number} */ (this.rows[at]);
    halves[1] = /** @type {number} */ (this.rows[at + 1]);
    return /** @type {number} */ (double[0]);
  }

  /** @param {HostTurn} turn */
  closeTurn(turn) {
    this.raised.forget(turn);
    this.#turns[turn.key] = undefined;
  }

  /** @param {Run} run */
  #keep(run) {
    this.runs.add(run);
    this.#keepAlive.start();
  }

  /**
   * A root turn is over, or stands still.
   *
   * @param {Run} run
   */
  release(run) {
    this.runs.delete(run);
    if (this.runs.size > 0) return;
    this.#keepAlive.stop();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = Infinity;
  }

  /**
   * The command is answered.
   *
   * @param {EffectSignal} effect
   */
  #close(effect) {
    effect.isOpen = false;
    this.effects[effect.id & PLACE] = undefined;
  }

  /** An input arrives: the kernel is told the time with it. */
  #arrive() {
    const { clock } = this;
    if (clock === systemClock) {
      this.#arrivedAt = this.#numbers[0] = performance.now();
      return;
    }
    clock.noteInput?.();
    this.#numbers[0] = clock.now();
    this.#arrivedAt = performance.now();
  }

  /**
   * Takes the rows that follow an input.
   *
   * @param {number} left how many words the kernel left; negative where texts belong to them
   */
  #take(left) {
    if (left === 0) return;
    const count = left < 0 ? -left : left;
    if (count > this.#words.length) {
      this.#words = new Int32Array(new ArrayBuffer(8 * count));
      native.more(this.#kernel, this.#words);
    }
    if (left < 0) {
      const texts = native.texts(this.#kernel);
      if (typeof texts === "string") this.#texts.push(texts);
      else this.#texts.push(...texts);
    }
    if (this.#end + count > this.rows.length) this.#makeRoom(count);
    const { rows } = this;
    const words = this.#words;
    const end = this.#end;
    for (let index = 0; index < count; index += 1) rows[end + index] = /** @type {number} */ (words[index]);
    this.#end = end + count;
    if (!this.#performing && !this.#yielding) this.#perform();
  }

  /** @param {number} count */
  #makeRoom(count) {
    const waiting = this.rows.subarray(this.#next, this.#end);
    const rows = new Int32Array(Math.max(this.rows.length, 2 * (waiting.length + count)));
    rows.set(waiting);
    this.rows = rows;
    this.#end -= this.#next;
    this.#next = 0;
  }

  /**
   * What a field of a row holds that is no number.
   *
   * @param {number} field
   * @returns {any} undefined where it holds nothing
   */
  text(field) {
    return field <= 0 ? undefined : JSON.parse(this.rawText(field));
  }

  /**
   * A text that is no JSON.
   *
   * @param {number} field
   */
  rawText(field) {
    return /** @type {string} */ (this.#texts[field - this.#textBase - 1]);
  }

  /** Resolves when what was commanded so far is performed. */
  async caughtUp() {
    while (this.#yielding) await new Promise((resolve) => setImmediate(resolve));
  }

  #perform() {
    this.#performing = true;
    try {
      while (this.#next < this.#end) {
        if (this.#sliceIsOver()) return;
        const at = this.#next;
        const head = /** @type {number} */ (this.rows[at]);
        this.#next = at + (head >> 8);
        perform[head & 255](this, this.rows, at);
      }
      this.#next = 0;
      this.#end = 0;
      if (this.#texts.length > 0) {
        this.#textBase += this.#texts.length;
        this.#texts = [];
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#performing = false;
    }
  }

  /** Instant models run in microtasks alone; without a pause no timer, signal or other work would ever get its turn. */
  #sliceIsOver() {
    const now = this.#arrivedAt;
    if (this.#sliceBegan === 0) {
      this.#sliceBegan = now;
      setImmediate(() => {
        this.#arrivedAt = performance.now();
        this.#sliceBegan = 0;
        this.#yielding = false;
        this.#perform();
      });
      return false;
    }
    this.#yielding = now - this.#sliceBegan > SLICE_MS;
    return this.#yielding;
  }

  /**
   * A fault of the kernel or of its host, beyond any one turn: no turn of this keel can go on (D-34).
   *
   * @param {unknown} cause
   */
  #fail(cause) {
    const error = new KeelError("INTERNAL", `the kernel failed: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
    // A set may lose entries while it is walked.
    for (const run of this.runs) {
      this.release(run);
      run.fail(error);
    }
  }
}
