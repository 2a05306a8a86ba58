/**
 * What the host keeps of a live turn: the messages and tools that its model is sent, and what its callbacks are told.
 */

import { frozenItems } from "../model/growing-list.js";

/** @import { Run } from "./run.js" */
/** @import { AgentProgram } from "./program.js" */

export class HostTurn {
  /** Only ever appended to, by `append`. */
  messages = frozenItems();

  /**
   * @param {any} opened the kernel's `open` command
   * @param {Run} run
   * @param {AgentProgram} agent
   */
  constructor(opened, run, agent) {
    this.turnId = opened.turnId;
    this.parentTurnId = opened.parentTurnId ?? undefined;
    this.attempt = opened.attempt;
    this.scopes = Object.freeze(opened.scopes);
    this.run = run;
    this.agent = agent;
    const submit = opened.submit === null ? [] : [agent.emits[opened.submit].offer];
    this.offers = {
      all: Object.freeze([...opened.tools.map((/** @type {number} */ index) => agent.tools[index].offer), ...submit]),
      submit: Object.freeze(submit),
      nothing: NO_TOOLS,
    };
  }

  /**
   * Messages are handed to models, which may keep them: nobody changes what the transcript says.
   *
   * @param {any[]} messages
   */
  append(messages) {
    for (const message of messages) this.messages.push(freezeDeep(message));
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
   * The request of one step. A nudge leaves the model no other way out than its submit tool.
   *
   * @param {"all" | "submit" | "nothing"} offer
   */
  request(offer) {
    const tools = this.offers[offer];
    const request = { ...this.agent.definition.modelOptions, messages: this.messages, tools };
    if (offer === "submit") request.toolChoice = { type: "tool", toolName: tools[0].name };
    if (tools.length === 0) delete request.toolChoice;
    return request;
  }
}

/** @type {readonly any[]} */
const NO_TOOLS = Object.freeze([]);

/**
 * @template {object} T
 * @param {T} value
 * @returns {T}
 */
function freezeDeep(value) {
  // Every message passes here: loops over keys are the fastest way to look at all of it.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) freezeWithin(value[index]);
  } else {
    for (const key of Object.keys(value)) freezeWithin(/** @type {any} */ (value)[key]);
  }
  return Object.freeze(value);
}

/** @param {unknown} child */
function freezeWithin(child) {
  if (typeof child === "object" && child !== null) freezeDeep(child);
}
