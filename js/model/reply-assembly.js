/** Puts the parts of a stream together, block by block, and tells the deltas on as they come. */

import { KeelError } from "../error.js";
import { toWellFormedText } from "../values/json-text.js";
import { describe, normalisePart, normaliseToolCall, providerOptions } from "./reply-part.js";

/** @typedef {{ type: "text" | "reasoning", text: string, providerOptions?: any }} TextPart */

export class ReplyAssembly {
  /** @type {any} the finish part, once it has come */
  finish;

  /** @type {any[]} */
  #content = [];
  /** @type {Map<string, TextPart>} open blocks by kind and id */
  #blocks = new Map();
  /** @type {Map<TextPart, string>} the first half of a character whose second half is in the next delta */
  #halves = new Map();
  /** @type {Map<string, any>} tool inputs that have begun and not yet come as a call */
  #inputs = new Map();
  #source;
  #onDelta;

  /**
   * @param {string} source
   * @param {import("./call-model.js").OnDelta} [onDelta]
   */
  constructor(source, onDelta) {
    this.#source = source;
    this.#onDelta = onDelta;
  }

  /** @param {any} given */
  add(given) {
    const part = typeof given === "string" ? { type: "text-delta", delta: given } : given;
    const type = part?.type;
    switch (type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#addText("text", part);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#addText("reasoning", part);
      case "text":
      case "reasoning":
        return this.#addText(type, { ...part, type: `${type}-delta` });
      case "tool-input-start":
        this.#inputs.set(part.id, { ...part, toolCallId: part.id, input: "" });
        return undefined;
      case "tool-input-delta":
        return this.#addInput(part);
      case "tool-call":
        this.#inputs.delete(part.toolCallId);
        return this.#push(normaliseToolCall(part, this.#source));
      case "finish":
        this.finish = part;
        return undefined;
      case "error":
        throw (
          part.error ?? new KeelError("MODEL_ERROR", `${this.#source}: its stream reported an error without naming it`)
        );
      case "tool-result":
      case "file":
      case "reasoning-file":
      case "source":
      case "custom":
      case "tool-approval-request":
        return this.#push(normalisePart(part, this.#source));
      default:
        if (typeof type === "string") return undefined;
        throw new KeelError(
          "MODEL_ERROR",
          `${this.#source}: expected each delta of its stream to have a type, found ${describe(part)}`,
        );
    }
  }

  /** The parts, in the order in which they began. */
  close() {
    for (const [block] of this.#halves) this.#tell(block, "\ufffd");
    // A provider may keep a call back whose arguments never became JSON. The model made it, so it gets its answer.
    for (const call of this.#inputs.values()) {
      if (call.providerExecuted !== true) this.#content.push(normaliseToolCall(call, this.#source));
    }
    return this.#content;
  }

  /**
   * @param {"text" | "reasoning"} type
   * @param {any} part
   */
  #addText(type, part) {
    const key = part.id === undefined ? type : `${type} ${part.id}`;
    let block = this.#blocks.get(key);
    if (!block) {
      if (part.id === undefined) this.#endUnnamed();
      block = { type, text: "" };
      this.#blocks.set(key, block);
      this.#content.push(block);
    }
    Object.assign(block, providerOptions(part));
    if (part.type.endsWith("-end")) this.#blocks.delete(key);
    if (!part.type.endsWith("-delta")) return;
    const delta = part.delta ?? part.text;
    if (typeof delta !== "string") {
      throw new KeelError(
        "MODEL_ERROR",
        `${this.#source}: expected a ${part.type} with text, found ${describe(delta)}`,
      );
    }
    this.#addDelta(block, delta);
  }

  /**
   * @param {TextPart} block
   * @param {string} delta
   */
  #addDelta(block, delta) {
    let text = (this.#halves.get(block) ?? "") + delta;
    this.#halves.delete(block);
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#halves.set(block, text.slice(-1));
      text = text.slice(0, -1);
    }
    if (text !== "") this.#tell(block, toWellFormedText(text));
  }

  /**
   * @param {TextPart} block
   * @param {string} text
   */
  #tell(block, text) {
    block.text += text;
    this.#onDelta?.({ type: block.type, text });
  }

  /** @param {any} part */
  #addInput(part) {
    const call = this.#inputs.get(part.id);
    if (call && typeof part.delta === "string") call.input += part.delta;
  }

  /** @param {any} part */
  #push(part) {
    this.#endUnnamed();
    this.#content.push(part);
  }

  /** Deltas without an id continue the block before them until something else comes. */
  #endUnnamed() {
    this.#blocks.delete("text");
    this.#blocks.delete("reasoning");
  }
}
