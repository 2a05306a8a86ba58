/**
 * The check of a call's arguments by the tool's Standard Schema. It is made together with the call where the kernel will
 * want it in all likelihood, which spares a crossing; the kernel looks at it when the call has come that far.
 */

import { validate } from "./validate.js";

/** @import { HostTurn } from "./host-turn.js" */

/**
 * Checks arguments, and keeps what the schema makes of them for the body.
 *
 * @param {HostTurn} turn
 * @param {any} tool the definition
 * @param {unknown} args the call's own copy
 */
export function checkArguments(turn, tool, args) {
  return validate(tool.input, args, (value) => {
    const kept = turn.keep(value);
    if (typeof tool.concurrency !== "function") return `{"ok":[${kept}]}`;
    return `{"ok":[${kept},${tool.concurrency(value) !== "shared"}]}`;
  });
}

/**
 * The check that is told together with the call; undefined where it has to wait until the kernel asks.
 *
 * @param {HostTurn} turn
 * @param {string} toolId
 * @param {string} argsText
 * @returns {string | undefined}
 */
export function checkAhead(turn, toolId, argsText) {
  const tool = turn.agent.toolsById.get(toolId);
  if (!tool?.checkedAhead) return undefined;
  let args;
  try {
    args = argsText.trim() === "" ? {} : JSON.parse(argsText);
  } catch {
    return undefined;
  }
  const checked = checkArguments(turn, tool.definition, args);
  // Nobody may ever ask for it.
  return typeof checked === "string" ? checked : `{"begun":[${turn.keep(checked)}]}`;
}

/**
 * The checks of a reply's tool calls, in their order, as the kernel reads them.
 *
 * @param {HostTurn} turn
 * @param {readonly any[]} content
 * @returns {string}
 */
export function checksOf(turn, content) {
  let texts = "";
  for (const part of content) {
    if (part.type !== "tool-call") continue;
    if (texts !== "") texts += ",";
    texts += (part.providerExecuted ? undefined : checkAhead(turn, part.toolName, part.input)) ?? "null";
  }
  return texts;
}
