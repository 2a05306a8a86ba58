/** Messages → the prompt of an AI SDK language model. */

import { KeelError } from "../error.js";
import { frozenCopy } from "./detached-request.js";
import { toPromptPart } from "./prompt-part.js";

/** @typedef {"v2" | "v3" | "v4"} SpecificationVersion */

/**
 * A new array of frozen prompt messages. A step costs what is new in it: a frozen message is converted once.
 *
 * @param {readonly any[]} messages
 * @param {SpecificationVersion} version
 * @returns {any[]}
 */
export function toPrompt(messages, version) {
  const known = converted[version];
  const prompt = [];
  for (const message of messages) {
    let entry = known.get(message);
    if (entry === undefined) {
      entry = frozenCopy(toPromptMessage(message, version));
      if (Object.isFrozen(message)) known.set(message, entry);
    }
    if (entry !== null) prompt.push(entry);
  }
  return prompt;
}

/** @type {Record<SpecificationVersion, WeakMap<object, any>>} */
const converted = { v2: new WeakMap(), v3: new WeakMap(), v4: new WeakMap() };

/**
 * @param {any} message
 * @param {SpecificationVersion} version
 * @returns {object | null} null for a message that has nothing to say to a model
 */
function toPromptMessage(message, version) {
  const { role, content } = message;
  const options = message.providerOptions === undefined ? {} : { providerOptions: message.providerOptions };
  if (role === "system") return { role, content: systemText(content), ...options };
  if (role !== "user" && role !== "assistant" && role !== "tool") {
    throw new KeelError(
      "MODEL_ERROR",
      `message: expected the role system, user, assistant or tool, found ${String(role)}`,
    );
  }
  const given = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const parts = given.map((/** @type {any} */ part) => toPromptPart(part, role, version)).filter(Boolean);
  const telling = parts.filter((/** @type {any} */ part) => !isEmptyText(part));
  if (telling.length > 0) return { role, content: telling, ...options };
  // A user's empty input is still an input; an empty reply is dropped, since providers refuse a message without content.
  return role === "user" ? { role, content: parts, ...options } : null;
}

/** @param {any} content */
function systemText(content) {
  return typeof content === "string" ? content : content.map((/** @type {any} */ part) => part.text).join("\n");
}

// A reasoning part without text can carry a provider's signature or an encrypted trace, and a text part its item id.
/** @param {any} part */
function isEmptyText(part) {
  return (part.type === "text" || part.type === "reasoning") && part.text === "" && part.providerOptions === undefined;
}
