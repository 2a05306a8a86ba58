/**
 * What the host keeps of a live turn: the messages and tools that its model is sent, and what its callbacks are told.
 */

import { Transcript } from "../model/transcript.js";
import { BusyMap } from "./busy-map.js";

/** @import { Run } from "./run.js" */
/** @import { AgentProgram } from "./program.js" */
/** @import { AsyncResource } from "node:async_hooks" */

export class HostTurn {
  transcript = new Transcript();

  /** @type {any} what `beforeModel` hooks made of the next request */
  nextRequest;

  /** @type {any} the model's last reply */
  reply;

  /** @type {BusyMap<any> | undefined} what was made of the arguments of calls that are not yet run, or the promise of it */
  #kept;
  #nextKept = 1;

  /** Checks of arguments that are under way ahead of the kernel. */
  checking = 0;

  /** @type {Map<string, readonly any[]> | undefined} */
  #layers;

  /**
   * @param {object} opened
   * @param {number} opened.key
   * @param {string} opened.turnId
   * @param {string | undefined} opened.parentTurnId
   * @param {number} opened.attempt
   * @param {readonly string[]} opened.scopes
   * @param {Run} opened.run
   * @param {AgentProgram} opened.agent
   * @param {{ tools: number[], submit: number | null }} opened.offered what its model may be offered, by position
   * @param {AsyncResource} opened.scope the async context that the turn belongs to
   * @param {any} opened.keelOptions
   */
  constructor({ key, turnId, parentTurnId, attempt, scopes, run, agent, offered, scope, keelOptions }) {
    this.key = key;
    this.turnId = turnId;
    this.parentTurnId = parentTurnId;
    this.attempt = attempt;
    this.scopes = scopes;
    this.run = run;
    this.agent = agent;
    this.scope = scope;
    this.workspace = keelOptions.workspace;
    /** Outermost first. */
    this.middleware = [...keelOptions.middleware, ...run.middleware, ...agent.definition.middleware];
    this.wraps = this.middleware.some(({ wrapTool }) => wrapTool !== undefined);
    this.offers = offersOf(agent, offered);
  }

  /**
   * Keeps something until it is taken, released, or the turn is over.
   *
   * @param {unknown} value
   * @returns {number} what the kernel calls it
   */
  keep(value) {
    const number = this.#nextKept;
    this.#nextKept += 1;
    this.#kept ??= new BusyMap();
    this.#kept.set(number, value);
    return number;
  }

  /** @param {number} number */
  kept(number) {
    return this.#kept?.get(number);
  }

  /** @param {number} number */
  take(number) {
    const value = this.#kept?.get(number);
    this.#kept?.delete(number);
    return value;
  }

  /** What every callback of the turn is told (the API's `TurnContext`, without its signal). */
  get facts() {
    const { run } = this;
    return {
      turnId: this.turnId,
      rootTurnId: run.turnId,
      ...(this.parentTurnId !== undefined && { parentTurnId: this.parentTurnId }),
      agentId: this.agent.definition.id,
      attempt: this.attempt,
      ...(run.identity !== undefined && { identity: run.identity }),
      ...(run.ambient !== undefined && { ambient: run.ambient }),
    };
  }

  /**
   * The middleware that has a hook of that name.
   *
   * @param {string} hook
   */
  layersWith(hook) {
    this.#layers ??= new Map();
    let layers = this.#layers.get(hook);
    if (layers === undefined) {
      layers = this.middleware.filter((layer) => layer[hook] !== undefined);
      this.#layers.set(hook, layers);
    }
    return layers;
  }

  /**
   * What `beforeModel` hooks made of the step's request, which is also that of its retries; without hooks the plain one.
   *
   * @param {"all" | "submit" | "nothing"} offer
   */
  stepRequest(offer) {
    return this.nextRequest ?? this.request(offer);
  }

  /**
   * The request of one step. A nudge leaves the model no other way out than its submit tool.
   *
   * @param {"all" | "submit" | "nothing"} offer
   */
  request(offer) {
    const tools = this.offers[offer];
    const request = { ...this.agent.definition.modelOptions, messages: this.transcript, tools };
    if (offer === "submit") request.toolChoice = { type: "tool", toolName: tools[0].name };
    if (tools.length === 0) delete request.toolChoice;
    return request;
  }
}

/**
 * What a turn's model may be offered. Most turns of an agent are offered the same, so it is made once.
 *
 * @param {AgentProgram} agent
 * @param {{ tools: number[], submit: number | null }} opened
 */
function offersOf(agent, { tools, submit }) {
  const key = `${tools.join()} ${submit}`;
  let offers = agent.offers.get(key);
  if (offers === undefined) {
    const delivering = submit === null ? [] : [agent.emits[submit]?.offer];
    const all = [...tools.map((index) => agent.tools[index]?.offer), ...delivering];
    offers = { all: Object.freeze(all), submit: Object.freeze(delivering), nothing: NO_TOOLS };
    agent.offers.set(key, offers);
  }
  return offers;
}

/** @type {readonly any[]} */
const NO_TOOLS = Object.freeze([]);
