/**
 * Keels: what turns run on. `run` and `stream` at the bottom are those of a default keel, made when first used.
 */

import { hookFlags } from "../definitions/define-middleware.js";
import { checkChoice, checkOptions, describe, isWellFormed, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { Host } from "../host/host.js";
import { contractSpec, programOf } from "../host/program.js";
import { Run } from "../host/run.js";
import { thrown } from "../host/tool-answer.js";
import { recordsOf } from "../reading/records.js";
import { redactEvent } from "../reading/redact.js";
import { EventLog, TurnStream } from "../reading/stream.js";
import { freezeDeep } from "../values/freeze-deep.js";
import { checkKeel } from "./keel-options.js";
import { checkResume } from "./resume-options.js";
import { checkNesting, checkRun, priceMissing } from "./run-options.js";
import { turnIds } from "./turn-id.js";

/** @param {any} [options] */
export function createKeel(options = {}) {
  const checked = checkKeel(options);
  const host = new Host(
    checked,
    JSON.stringify({
      limits: checked.limits ?? {},
      captureToolIo: checked.capture.toolIo,
      captureModelIo: checked.capture.modelIo,
      exposeErrors: checked.exposeErrors,
      hooks: hookFlags(checked.middleware),
      hosted: hostedSpec(checked.security),
      approves: checked.approve !== undefined,
      ledger: checked.ledger === undefined ? null : (checked.ledger.onStartFailure ?? "abort"),
      keepTrees: checked.keepTrees ?? null,
    }),
  );
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
    const run = this.#start(agent, input, options, this.#tellTo(log));
    return this.#streamOf(run, log);
  }

  /**
   * @param {string} turnId
   * @param {any} [options]
   * @returns {Promise<any>}
   */
  async resume(turnId, options = {}) {
    return this.#resume(turnId, options, undefined).result;
  }

  /**
   * @param {string} turnId
   * @param {any} [options]
   */
  resumeStream(turnId, options = {}) {
    const log = new EventLog();
    const run = this.#resume(turnId, options, this.#tellTo(log));
    return this.#streamOf(run, log);
  }

  /**
   * @param {string} turnId
   * @param {any} [options]
   * @returns {Promise<boolean>}
   */
  async stop(turnId, options = {}) {
    checkOptions(options, ["reason", "scope"], "stop");
    checkChoice(options.scope, ["tree", "subtree"], "stop: scope");
    const host = this.#host;
    const run = host.runOf(turnId);
    if (run === undefined || !host.query("live", { turnId }, run)) return false;
    this.#stop(run, turnId, options.reason, options.scope === "subtree");
    await host.caughtUp(run);
    return true;
  }

  async close() {
    this.#closed = true;
    const host = this.#host;
    const runs = [...host.runs];
    for (const run of runs) this.#stop(run, run.turnId, "closed", false);
    // A suspended run has a result already, and is over when this is performed.
    await Promise.allSettled(runs.flatMap((run) => [run.result, host.caughtUp(run)]));
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
    if (this.#closed)
      throw new KeelError("KEEL_CLOSED", `run of agent "${agent?.id}": expected an open keel, found a closed one`);
    const checked = checkRun(agent, input, options, host.options);
    const program = programOf(agent);
    checkNesting(agent, checked, host.options);
    if (checked.needsPrice || (host.options.price === undefined && program.needsPrice))
      throw priceMissing(`run of agent "${agent.id}"`);
    const { identity, ambient, signal, contract } = checked;
    const run = new Run(host, {
      turnId: this.#newTurnId(host.clock.wallNow()),
      program,
      identity,
      ambient,
      middleware: checked.middleware,
      input: checked.input,
      messages: frozenMessages(agent, checked.messages),
      onEvent,
    });
    if (signal?.aborted) run.noteStop(run.turnId, signal.reason);
    const stopped = run.stopOf(run.turnId);
    const isPlain = checked.messages.length === 1 && typeof checked.input === "string" && isWellFormed(checked.input);
    const start = {
      authenticated: identity !== undefined,
      input: isPlain ? checked.input : undefined,
      rest: restText(agent, {
        messages: isPlain ? undefined : checked.messages,
        input: isPlain ? undefined : checked.input,
        budget: checked.budget,
        limits: checked.limits,
        contract: contract ? contractSpec(agent, contract) : undefined,
        scopes: identity?.scopes,
        hooks: checked.middleware.length > 0 ? hookFlags(checked.middleware) : undefined,
        stopped: stopped ? { reason: reasonJson(stopped.reason) } : undefined,
      }),
    };
    run.watch(signal, (reason) => this.#stop(run, run.turnId, reason, false));
    host.start(run, start);
    return run;
  }

  /**
   * @param {string} turnId
   * @param {any} options
   * @param {((event: any) => void) | undefined} onEvent
   */
  #resume(turnId, options, onEvent) {
    const host = this.#host;
    if (this.#closed)
      throw new KeelError("KEEL_CLOSED", `resume of turn "${turnId}": expected an open keel, found a closed one`);
    const run = host.runOf(turnId);
    if (run?.turnId !== turnId || run.pending === undefined)
      throw optionInvalid("resume", "the id of a suspended root turn of this keel", turnId);
    const { decisions, ambient, signal } = checkResume(turnId, options, run.pending);
    run.reopen({ ambient, onEvent });
    if (signal?.aborted) run.noteStop(turnId, signal.reason);
    const stopped = run.stopOf(turnId);
    run.watch(signal, (reason) => this.#stop(run, turnId, reason, false));
    host.resume(run, decisions, stopped ? { reason: reasonJson(stopped.reason) } : null);
    return run;
  }

  /** @param {EventLog} log */
  #tellTo(log) {
    const { capture } = this.#host.options;
    return (/** @type {any} */ event) => log.push(redactEvent(event, capture));
  }

  /**
   * @param {Run} run
   * @param {EventLog} log
   */
  #streamOf(run, log) {
    const end = () => log.end();
    run.result.then(end, end);
    return new TurnStream(run, log, (reason) => this.stop(run.turnId, { reason }));
  }

  /**
   * @param {Run} run
   * @param {string} turnId
   * @param {unknown} reason
   * @param {boolean} subtree
   */
  #stop(run, turnId, reason, subtree) {
    run.noteStop(subtree ? turnId : run.turnId, reason);
    this.#host.input(run, "stop", { turnId, subtree, reason: reasonJson(reason) });
  }
}

/**
 * `security` as the kernel wants to know it.
 *
 * @param {any} security
 */
function hostedSpec(security) {
  if (security === undefined) return null;
  const { allowTools, failClosed, authorizeTool } = security;
  return { allow: allowTools ?? null, failClosed, authorizes: authorizeTool !== undefined };
}

/**
 * What a start has besides, as JSON text, where it has anything.
 *
 * @param {any} agent
 * @param {any} rest
 */
function restText(agent, rest) {
  for (const name in rest) if (rest[name] !== undefined) return startText(agent, rest);
  return undefined;
}

/**
 * A run's own copy of the messages that it begins with. A single text needs no way through JSON.
 *
 * @param {any} agent
 * @param {readonly any[]} messages
 */
function frozenMessages(agent, messages) {
  const [first] = messages;
  if (messages.length === 1 && typeof first.content === "string")
    return [Object.freeze({ role: "user", content: first.content })];
  return JSON.parse(startText(agent, messages)).map(freezeDeep);
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
    throw new KeelError("OPTION_INVALID", `${where}: expected input and history to be JSON values, found: ${found}`, {
      cause,
    });
  }
}

/**
 * A stop's reason as the records show it. Never throws, whatever the reason: a signal's listener asks.
 *
 * @param {any} reason
 */
function reasonJson(reason) {
  if (reason === undefined) return null;
  try {
    if (reason instanceof Error) return { name: String(reason.name), ...thrown(reason) };
    return JSON.parse(JSON.stringify(reason) ?? "null");
  } catch {
    return thrown(reason).message;
  }
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
