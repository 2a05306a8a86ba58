/**
 * Keels: what turns run on. `run` and `stream` at the bottom are those of a default keel, made when first used.
 */

import { checkAgent } from "./agent.js";
import { checkLimits } from "./budget.js";
import { systemClock } from "./clock.js";
import { KeelError } from "./error.js";
import { Host } from "./host.js";
import { contractSpec, programOf } from "./host/program.js";
import { Run } from "./host/run.js";
import { thrown } from "./host/tool-answer.js";
import { checkArray, checkChoice, checkCount, checkOptions, checkType, describe, optionInvalid } from "./options.js";
import { recordsOf } from "./records.js";
import { redactEvent } from "./redact.js";
import { checkRun, priceMissing } from "./run-options.js";
import { EventLog, TurnStream } from "./stream.js";
import { turnIds } from "./turn-id.js";

const OPTIONS = ["records", "agents", "durability", "keep", "capture", "price", "clock", "limits", "exposeErrors"];

/** @param {any} [options] */
export function createKeel(options = {}) {
  const checked = checkKeel(options);
  const host = new Host(checked, JSON.stringify({
    limits: checked.limits ?? {},
    captureToolIo: checked.capture.toolIo,
    captureModelIo: checked.capture.modelIo,
    exposeErrors: checked.exposeErrors,
    keepTrees: checked.keepTrees ?? null,
  }));
  return new Keel(host);
}

class Keel {
  #host;
  #closed = false;
  #newTurnId = turnIds();

  /** @param {Host} host */
  constructor(host) {
    this.#host = host;
    this.records = recordsOf(host);
  }

  /**
   * @param {any} agent
   * @param {any} input
   * @param {any} [options]
   * @returns {Promise<any>}
   */
  run(agent, input, options = {}) {
    let result;
    try {
      result = this.#start(agent, input, options, undefined).result;
    } catch (error) {
      result = Promise.reject(error);
      // Nobody has to look at it.
      result.catch(() => {});
    }
    return result;
  }

  /**
   * @param {any} agent
   * @param {any} input
   * @param {any} [options]
   */
  stream(agent, input, options = {}) {
    const log = new EventLog();
    const { capture } = this.#host.options;
    const run = this.#start(agent, input, options, (event) => log.push(redactEvent(event, capture)));
    const end = () => log.end();
    run.result.then(end, end);
    return new TurnStream(run, log, (reason) => this.stop(run.turnId, { reason }));
  }

  /**
   * @param {string} turnId
   * @param {any} [options]
   * @returns {Promise<boolean>}
   */
  async stop(turnId, options = {}) {
    checkOptions(options, ["reason", "scope"], "stop");
    checkChoice(options.scope, ["tree", "subtree"], "stop: scope");
    const turn = this.#host.turns.get(turnId);
    if (!turn) return false;
    this.#stop(turn.run, turnId, options.reason, options.scope === "subtree");
    return true;
  }

  async close() {
    this.#closed = true;
    const live = [...this.#host.runs.values()];
    for (const run of live) this.#stop(run, run.turnId, "closed", false);
    await Promise.allSettled(live.map((run) => run.result));
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  /**
   * @param {any} agent
   * @param {any} input
   * @param {any} options
   * @param {((event: any) => void) | undefined} onEvent
   */
  #start(agent, input, options, onEvent) {
    const host = this.#host;
    if (this.#closed) throw new KeelError("KEEL_CLOSED", `run of agent "${agent?.id}": expected an open keel, found a closed one`);
    const checked = checkRun(agent, input, options, host.options);
    const program = programOf(agent);
    if (checked.needsPrice || (host.options.price === undefined && program.needsPrice)) throw priceMissing(`run of agent "${agent.id}"`);
    const { clock } = host;
    const { identity, ambient, signal, contract } = checked;
    const run = new Run({ turnId: this.#newTurnId(clock.wallNow()), program, identity, ambient, onEvent });
    if (signal?.aborted) run.noteStop(run.turnId, signal.reason);
    const stopped = run.stopOf(run.turnId);
    const text = startText(agent, {
      turnId: run.turnId,
      wallOffsetMs: clock.wallNow() - clock.now(),
      messages: checked.messages,
      input: checked.input,
      budget: checked.budget,
      limits: checked.limits,
      contract: contract ? contractSpec(agent, contract) : null,
      authenticated: identity !== undefined,
      scopes: identity?.scopes ?? [],
      stream: onEvent !== undefined,
      stopped: stopped ? { reason: reasonJson(stopped.reason) } : null,
    });
    run.watch(signal, (reason) => this.#stop(run, run.turnId, reason, false));
    host.start(run, program.native, text);
    return run;
  }

  /**
   * @param {Run} run
   * @param {string} turnId
   * @param {unknown} reason
   * @param {boolean} subtree
   */
  #stop(run, turnId, reason, subtree) {
    run.noteStop(subtree ? turnId : run.turnId, reason);
    this.#host.input("stop", { turnId, subtree, reason: reasonJson(reason) });
  }
}

/**
 * @param {any} agent
 * @param {object} start the kernel's `Start`
 */
function startText(agent, start) {
  try {
    return JSON.stringify(start);
  } catch (cause) {
    const where = `run of agent "${agent.id}"`;
    const found = cause instanceof Error ? cause.message : describe(cause);
    throw new KeelError("OPTION_INVALID", `${where}: expected input and history to be JSON values, found: ${found}`, { cause });
  }
}

/**
 * A stop's reason as the records show it.
 *
 * @param {any} reason
 */
function reasonJson(reason) {
  if (reason === undefined) return null;
  if (reason instanceof Error) return { name: reason.name, ...thrown(reason) };
  try {
    return JSON.parse(JSON.stringify(reason) ?? "null");
  } catch {
    return thrown(reason).message;
  }
}

/** @param {any} options */
function checkKeel(options) {
  const where = "createKeel";
  checkOptions(options, OPTIONS, where);
  checkType(options.records, "string", `${where}: records`);
  if (options.records !== undefined && options.records !== ":memory:") {
    throw new KeelError("STORE_UNSUPPORTED", `${where}: records: expected ":memory:", the only store of this version, found ${JSON.stringify(options.records)}`);
  }
  for (const [index, agent] of checkArray(options.agents, `${where}: agents`).entries()) checkAgent(agent, `${where}: agents[${index}]`);
  checkChoice(options.durability, ["relaxed", "strict"], `${where}: durability`);
  const keep = options.keep === undefined ? {} : checkOptions(options.keep, ["trees"], `${where}: keep`);
  return {
    keepTrees: checkCount(keep.trees, `${where}: keep.trees`),
    capture: checkCapture(options.capture, `${where}: capture`),
    price: checkType(options.price, "function", `${where}: price`),
    clock: checkClock(options.clock, `${where}: clock`),
    limits: checkLimits(options.limits, where),
    exposeErrors: checkType(options.exposeErrors, "boolean", `${where}: exposeErrors`) ?? false,
  };
}

/**
 * @param {any} capture
 * @param {string} where
 */
function checkCapture(capture = {}, where) {
  checkOptions(capture, ["toolIo", "modelIo", "redact"], where);
  return {
    toolIo: checkType(capture.toolIo, "boolean", `${where}.toolIo`) ?? false,
    modelIo: checkType(capture.modelIo, "boolean", `${where}.modelIo`) ?? false,
    redact: checkType(capture.redact, "function", `${where}.redact`),
  };
}

/**
 * @param {any} clock
 * @param {string} where
 */
function checkClock(clock, where) {
  if (clock === undefined) return systemClock;
  if (["now", "wallNow", "setTimer"].every((name) => typeof clock?.[name] === "function")) return clock;
  throw optionInvalid(where, "a clock with now(), wallNow() and setTimer()", clock);
}

/** @type {Keel | undefined} */
let defaultKeel;

/**
 * @param {any} agent
 * @param {any} input
 * @param {any} [options]
 */
export function run(agent, input, options) {
  defaultKeel ??= createKeel();
  return defaultKeel.run(agent, input, options);
}

/**
 * @param {any} agent
 * @param {any} input
 * @param {any} [options]
 */
export function stream(agent, input, options) {
  defaultKeel ??= createKeel();
  return defaultKeel.stream(agent, input, options);
}
