/**
 * The host: performs what the kernel commands and feeds it what happened. It decides nothing about agents; whatever a
 * turn may do, spend or return is settled in the kernel. One host serves one keel.
 *
 * One input goes in, the commands that follow come out at once and are performed in order; a command that calls user code
 * synchronously may bring further inputs, whose commands queue up behind.
 */

import { native } from "./binding.js";
import { systemClock } from "./clock.js";
import { KeelError } from "./error.js";
import { BusyMap } from "./host/busy-map.js";
import { KeepAlive } from "./host/keep-alive.js";
import { perform } from "./host/perform.js";
import { Raised } from "./host/raised.js";
import { Tickets } from "./host/tickets.js";

/** @import { Clock } from "./clock.js" */
/** @import { Run } from "./host/run.js" */
/** @import { HostTurn } from "./host/host-turn.js" */

/** @import { EffectSignal } from "./host/effect-signal.js" */

/** How long commands are performed before timers, signals and other work get their turn (D-36). */
const SLICE_MS = 10;

/** Hosts that nobody refers to any longer take their kernels with them. */
const collected = new FinalizationRegistry((/** @type {number} */ kernel) => native.closeKernel(kernel));

export class Host {
  /** @type {Map<string, Run>} live root turns */
  runs = new Map();

  /** @type {BusyMap<HostTurn>} live turns, by the kernel's key */
  #turns = new BusyMap();

  /** @type {Map<string, HostTurn>} the same by their ids */
  #turnsById = new Map();

  /** @type {Map<string, readonly any[]>} what suspended root turns wait for */
  pending = new Map();

  /** Promises that wait for the kernel. */
  tickets = new Tickets();

  raised = new Raised();

  /** @type {BusyMap<EffectSignal>} commands that are not answered yet */
  effects = new BusyMap();

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
  /** @type {any[]} */
  #commands = [];
  #next = 0;
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
    this.#kernel = native.openKernel(kernelOptions);
    collected.register(this, this.#kernel);
  }

  /**
   * Opens a root turn.
   *
   * @param {Run} run
   * @param {any} program
   * @param {string} text
   */
  start(run, program, text) {
    this.#keep(run);
    this.#feed(() => native.start(this.#kernel, program, text, this.#now()));
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
   * @param {number} id
   * @param {string} text
   */
  answer(id, text) {
    if (!this.effects.delete(id)) return;
    this.#feed(() => native.answer(this.#kernel, id, text, this.#now()));
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
    this.#feed(() => native.input(this.#kernel, text, this.#now()));
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
    return /** @type {HostTurn} */ (this.#turns.get(key));
  }

  /** @param {string} turnId */
  findTurnById(turnId) {
    return this.#turnsById.get(turnId);
  }

  get liveRuns() {
    return new Set(Array.from(this.#turnsById.values(), ({ run }) => run));
  }

  /** @param {HostTurn} turn */
  openTurn(turn) {
    this.#turns.set(turn.key, turn);
    this.#turnsById.set(turn.turnId, turn);
  }

  /** @param {HostTurn} turn */
  closeTurn(turn) {
    this.raised.forget(turn);
    this.#turns.delete(turn.key);
    this.#turnsById.delete(turn.turnId);
  }

  /** @param {Run} run */
  #keep(run) {
    this.runs.set(run.turnId, run);
    this.#keepAlive.start();
  }

  /**
   * A root turn is over, or stands still.
   *
   * @param {Run} run
   */
  release(run) {
    this.runs.delete(run.turnId);
    if (this.runs.size > 0) return;
    this.#keepAlive.stop();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = Infinity;
  }

  #now() {
    this.clock.noteInput?.();
    const now = this.clock.now();
    this.#arrivedAt = this.clock === systemClock ? now : performance.now();
    return now;
  }

  /** @param {() => string | null} input */
  #feed(input) {
    try {
      const text = input();
      if (text === null) return;
      for (const command of JSON.parse(text)) this.#commands.push(command);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!this.#performing && !this.#yielding) this.#perform();
  }

  /** Resolves when what was commanded so far is performed. */
  async caughtUp() {
    while (this.#yielding) await new Promise((resolve) => setImmediate(resolve));
  }

  #perform() {
    this.#performing = true;
    try {
      while (this.#next < this.#commands.length) {
        if (this.#sliceIsOver()) return;
        const command = this.#commands[this.#next];
        this.#next += 1;
        perform[command[0]](this, command);
      }
      this.#commands = [];
      this.#next = 0;
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
    // A map may lose entries while it is walked.
    for (const run of this.runs.values()) {
      this.release(run);
      run.fail(error);
    }
  }
}
