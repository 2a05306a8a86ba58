/**
 * What a tool's execute may give back to say more than a plain value does.
 */

import { KeelError } from "../error.js";
import { checkChoice, checkOptions, checkType, freezeDefinition } from "./options.js";

/**
 * @param {any} [options]
 * @returns {any}
 */
export function toolResult(options = {}) {
  const where = "toolResult";
  checkOptions(options, ["value", "text", "isError", "metadata", "control"], where);
  const control = options.control;
  if (control !== undefined) {
    checkOptions(control, ["returnDirect", "terminate", "goto"], `${where}: control`);
    checkType(control.returnDirect, "boolean", `${where}: control.returnDirect`);
    checkType(control.terminate, "boolean", `${where}: control.terminate`);
    checkChoice(control.goto, ["model", "tools", "end"], `${where}: control.goto`);
  }
  return freezeDefinition({
    kind: "tool-result",
    value: options.value,
    text: checkType(options.text, "string", `${where}: text`),
    isError: checkType(options.isError, "boolean", `${where}: isError`) ?? false,
    metadata: options.metadata,
    control: control && freezeDefinition({ ...control }),
  });
}

/**
 * A failure that the tool itself reports: the model gets exactly this text. It may be thrown as well as returned.
 *
 * @param {string} message
 * @returns {any}
 */
export function toolError(message) {
  const error = new KeelError("TOOL_FAILED", message);
  const result = { kind: "tool-result", text: error.message, isError: true };
  for (const [key, value] of Object.entries(result)) Object.defineProperty(error, key, { value });
  return error;
}

/**
 * @param {any} value
 * @returns {value is { kind: "tool-result", value?: unknown, text?: string, isError: boolean, metadata?: unknown, control?: any }}
 */
export function isToolResult(value) {
  if (typeof value !== "object" || value?.kind !== "tool-result") return false;
  return typeof value.isError === "boolean" && (value.text === undefined || typeof value.text === "string");
}
