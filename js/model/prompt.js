/** Messages → the prompt of an AI SDK language model. */

import { KeelError } from "../error.js";
import { frozenCopy } from "./detached-request.js";
import { convertGrowing } from "./growing-list.js";
import { toPromptPart } from "./prompt-part.js";
import { Transcript } from "./transcript.js";

/** @typedef {"v2" | "v3" | "v4"} SpecificationVersion */

/**
 * A new array of frozen prompt messages; a frozen message is converted once.
 *
 * @param {Transcript | readonly any[]} messages
 * @param {SpecificationVersion} version
 * @returns {any[]}
 */
export function toPrompt(messages, version) {
  return converters[version](messages instanceof Transcript ? messages.messages : messages);
}

/** @param {SpecificationVersion} version */
const converter = (version) => convertGrowing((message) => frozenCopy(toPromptMessage(message, version)));

const converters = { v2: converter("v2"), v3: converter("v3"), v4: converter("v4") };

/**
 * @param {any} message
 * @param {SpecificationVersion} version
 * @returns {object | undefined} undefined for a message that has nothing to say to a model
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
  return role === "user" ? { role, content: parts, ...options } : undefined;
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
