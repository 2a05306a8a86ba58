/**
 * A call of the model's last reply: what the host keeps of it until its result is in the transcript.
 */

import { copyFrozen } from "../values/copy-frozen.js";
import { freezeDeep } from "../values/freeze-deep.js";
import { toWellFormedText } from "../values/json-text.js";

/** @import { CommandQueue } from "./command-queue.js" */
/** @import { ToolAnswer } from "./tool-answer.js" */

export class IssuedCall {
  /** @type {any} the part of the assistant message that asks for it, frozen; undefined until its arguments are read */
  #said;

  /** @type {ToolAnswer | undefined} what its body answered */
  answer;

  /** @type {any} the call as hooks are shown it, frozen, once it is made */
  view;

  /** @param {any} part of the reply */
  constructor(part) {
    this.part = part;
    this.#said = undefined;
  }

  /**
   * Its arguments, for whoever may change them. Throws where they are no JSON.
   *
   * @returns {unknown}
   */
  readArguments() {
    const args = JSON.parse(this.part.input);
    this.#said ??= saidCall(this.part, copyFrozen(args));
    return args;
  }

  get said() {
    return (this.#said ??= saidCall(this.part, copyFrozen(JSON.parse(this.part.input))));
  }

  /**
   * Its result as the model sees it, frozen all the way down.
   *
   * @param {any} sent what the model sees of it, where that is not what the body answered
   */
  resultOf(sent) {
    const { toolCallId, toolName } = this.part;
    const output = sent === undefined ? outputOf(/** @type {any} */ (this.answer)) : freezeDeep(sent);
    return Object.freeze({ type: "tool-result", toolCallId, toolName, output });
  }
}

/**
 * @param {any} part
 * @param {unknown} input
 */
function saidCall({ type, toolCallId, toolName, providerOptions, providerExecuted }, input) {
  /** @type {any} */
  const said = { type, toolCallId, toolName, input };
  if (providerOptions !== undefined) said.providerOptions = freezeDeep(providerOptions);
  if (providerExecuted !== undefined) said.providerExecuted = providerExecuted;
  return Object.freeze(said);
}

/** @param {ToolAnswer} answer */
function outputOf({ isError, text, value }) {
  if (text !== undefined)
    return Object.freeze({ type: isError ? "error-text" : "text", value: toWellFormedText(text) });
  const parsed = value === undefined ? null : JSON.parse(value);
  if (typeof parsed === "string")
    return Object.freeze({ type: isError ? "error-text" : "text", value: toWellFormedText(parsed) });
  if (typeof parsed === "object" && parsed !== null) freezeDeep(parsed);
  return Object.freeze({ type: isError ? "error-json" : "json", value: parsed });
}

/**
 * What a reply says, as a message: frozen all the way down.
 *
 * @param {readonly any[]} content
 * @param {readonly IssuedCall[]} issued its calls
 */
export function replyMessage(content, issued) {
  const parts = [];
  let calls = 0;
  for (const part of content) {
    if (part.type === "tool-call" && part.providerExecuted === undefined) {
      parts.push(/** @type {IssuedCall} */ (issued[calls]).said);
      calls += 1;
    } else {
      parts.push(part.type === "tool-call" ? saidCall(part, copyFrozen(JSON.parse(part.input))) : freezeDeep(part));
    }
  }
  return Object.freeze({ role: "assistant", content: Object.freeze(parts) });
}

/**
 * The results of a reply's calls, as a message.
 *
 * @param {readonly IssuedCall[]} issued
 * @param {CommandQueue} commands
 * @param {number} at where the row of one names what is sent of each
 */
export function resultsMessage(issued, commands, at) {
  const results = [];
  for (const call of issued) {
    results.push(call.resultOf(commands.text(commands.rows[at])));
    at += 1;
  }
  return Object.freeze({ role: "tool", content: Object.freeze(results) });
}
