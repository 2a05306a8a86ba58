/**
 * What the host keeps of a live turn: the messages and tools that its model is sent, and what its callbacks are told.
 */

import { messageSnapshot } from "../model/message-snapshot.js";
import { Transcript } from "../model/transcript.js";
import { freezeDeep } from "../values/freeze-deep.js";
import { detachedRequest, detachedTools } from "../model/detached-request.js";
import { IssuedCall, replyMessage, resultsMessage } from "./issued-call.js";

/** @import { Run } from "./run.js" */
/** @import { AgentProgram } from "./program.js" */
/** @import { AsyncResource } from "node:async_hooks" */

export class HostTurn {
  transcript = new Transcript();

  /** @type {any} what `beforeModel` hooks made of the next request */
  nextRequest;

  /** @type {any} the model's last reply */
  #reply;

  /** @type {readonly IssuedCall[]} the calls of that reply that are ours to run */
  issued = NO_CALLS;

  get reply() {
    return this.#reply;
  }

  /** What the last reply says. */
  get replyText() {
    let text = "";
    for (const part of this.#reply.content) if (part.type === "text") text += part.text;
    return text;
  }

  set reply(reply) {
    this.#reply = reply;
    const issued = [];
    for (const part of reply.content) {
      if (part.type === "tool-call" && part.providerExecuted === undefined) issued.push(new IssuedCall(part));
    }
    this.issued = issued;
  }

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
   * @param {{ tools: number[], submit: number | null } | undefined} opened.offered what its model may be offered, by position; absent
   *   where it is all that the agent lists
   * @param {AsyncResource} opened.scope the async context that the turn belongs to
   */
  constructor({ key, turnId, parentTurnId, attempt, scopes, run, agent, offered, scope }) {
    const { options } = run.host;
    this.key = key;
    this.turnId = turnId;
    this.parentTurnId = parentTurnId;
    this.attempt = attempt;
    this.scopes = scopes;
    this.run = run;
    this.agent = agent;
    this.scope = scope;
    this.workspace = options.workspace;
    /** Outermost first. */
    this.middleware = layersOf(options.middleware, run.middleware, agent.definition.middleware);
    this.wraps = this.middleware.length > 0 && this.middleware.some(({ wrapTool }) => wrapTool !== undefined);
    this.offers =
      offered === undefined
        ? (agent.allOffers ??= offersOf(agent, { tools: agent.listed, submit: null }))
        : offersOf(agent, offered);
  }

  /**
   * Appends messages to the transcript.
   *
   * @param {number} at where the row of a command counts them, and then names each
   */
  append(at) {
    const { commands } = this.run;
    const { rows } = commands;
    const { messages } = this.transcript;
    const end = at + rows[at];
    for (let index = at + 1; index <= end; index += 1) {
      const source = rows[index];
      if (source === FROM_REPLY) messages.push(replyMessage(this.#reply.content, this.issued));
      else if (source === FROM_RESULTS) {
        messages.push(resultsMessage(this.issued, commands, index + 2));
        index += 1 + rows[index + 1];
      } else if (source === FROM_START) messages.push(...this.run.messages);
      else if (source === FROM_INSTRUCTIONS) messages.push(this.agent.instructions);
      else if (source === FROM_TEXT) {
        index += 1;
        messages.push(Object.freeze({ role: "user", content: commands.rawText(rows[index]) }));
      } else messages.push(freezeDeep(commands.text(source)));
    }
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
   * The same as a model of our own kind gets it.
   *
   * @param {"all" | "submit" | "nothing"} offer
   */
  ownRequest(offer) {
    const isPlain =
      offer === "all" && this.nextRequest === undefined && this.agent.definition.modelOptions === undefined;
    if (!isPlain) return detachedRequest(this.stepRequest(offer));
    return { messages: messageSnapshot(this.transcript.messages), tools: this.offers.detached.slice() };
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
 * @param {readonly any[]} keel
 * @param {readonly any[]} run
 * @param {readonly any[]} agent
 * @returns {readonly any[]}
 */
function layersOf(keel, run, agent) {
  return keel.length + run.length + agent.length === 0 ? NO_LAYERS : [...keel, ...run, ...agent];
}

/** @type {readonly any[]} */
const NO_LAYERS = Object.freeze([]);

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
    offers = {
      all: Object.freeze(all),
      submit: Object.freeze(delivering),
      nothing: NO_TOOLS,
      detached: detachedTools(all),
    };
    agent.offers.set(key, offers);
  }
  return offers;
}

/** @type {readonly any[]} */
const NO_TOOLS = Object.freeze([]);

/** @type {readonly IssuedCall[]} */
const NO_CALLS = Object.freeze([]);

/** What the host has itself of what is to be appended. */
const FROM_REPLY = -1;
const FROM_RESULTS = -2;
const FROM_START = -3;
const FROM_INSTRUCTIONS = -4;
/** A user's text follows. */
const FROM_TEXT = -5;
