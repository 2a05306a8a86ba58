/**
 * Checks of what run() and stream() are given, before anything starts: misuse is told at once and leaves no record.
 */

import { native } from "../binding/native.js";
import { checkAgent, resolveTools } from "../definitions/agent.js";
import { checkBudget, checkLimits } from "../definitions/budget.js";
import { contractFor } from "../definitions/contract.js";
import { checkGuarded, checkMiddleware } from "../definitions/define-middleware.js";
import { checkArray, checkOptions, checkStrings, describe, optionInvalid } from "../definitions/options.js";
import { KeelError } from "../error.js";
import { reachable } from "../host/program.js";

const OPTIONS = ["deliverable", "history", "signal", "identity", "ambient", "budget", "limits", "middleware"];

/**
 * @param {any} agent
 * @param {any} input
 * @param {any} options
 * @param {any} keelOptions
 */
export function checkRun(agent, input, options, keelOptions) {
  checkAgent(agent, "run");
  const where = `run of agent "${agent.id}"`;
  checkOptions(options, OPTIONS, where);
  resolveTools(agent);
  const budget = checkBudget(options.budget, where);
  const limits = checkLimits(options.limits, where);
  return {
    messages: checkMessages(input, options.history, where),
    input,
    budget,
    limits,
    middleware: checkMiddleware(options.middleware, where),
    contract: options.deliverable === undefined ? undefined : contractFor(agent, options.deliverable, where),
    signal: checkSignal(options.signal, where),
    identity: checkIdentity(options.identity, where),
    ambient: options.ambient === undefined ? undefined : frozenJson(options.ambient, `${where}: ambient`),
    needsPrice:
      keelOptions.price === undefined && [budget?.costUsd, limits?.tree?.costUsd].some((cost) => cost !== undefined),
  };
}

/**
 * What the transcript begins with.
 *
 * @param {any} input
 * @param {any} history
 * @param {string} where
 */
function checkMessages(input, history, where) {
  const messages = [...checkHistory(history, where), { role: "user", content: checkInput(input, where) }];
  // A plain text cannot be nested; anything else is looked at before the kernel, and every model, has to read it.
  const given = typeof input === "string" ? messages.slice(0, -1) : messages;
  if (given.length > 0 && isTooDeep(given)) {
    throw new KeelError(
      "VALUE_TOO_DEEP",
      `${where}: expected input and history nested at most 128 levels deep, found more`,
    );
  }
  return messages;
}

/** @param {unknown} value */
function isTooDeep(value) {
  try {
    const text = JSON.stringify(value);
    anything ??= new native.Schema("true");
    return anything.validate(text) !== null;
  } catch (error) {
    // Deeper than the engine can write; any other fault is told where the text is made for the kernel.
    return error instanceof RangeError;
  }
}

/** @type {any} a schema that every JSON value fits, unless it is too deep */
let anything;

/**
 * Where nested calls are on, everything that guards the model's calls has to guard them too (D-16).
 *
 * @param {any} agent
 * @param {{ limits: any, middleware: readonly any[] }} run
 * @param {any} keelOptions
 */
export function checkNesting(agent, { limits, middleware }, keelOptions) {
  const bound = limits?.maxNestedDepth ?? keelOptions.limits?.maxNestedDepth ?? agent.limits?.maxNestedDepth ?? 0;
  if (bound === 0) return;
  const where = `run of agent "${agent.id}"`;
  checkGuarded(keelOptions.middleware, where);
  checkGuarded(middleware, where);
  for (const reached of reachable(agent)) checkGuarded(reached.middleware, `agent "${reached.id}"`);
}

/**
 * A budget in money needs somebody who knows the price (D-6).
 *
 * @param {string} where
 */
export function priceMissing(where) {
  return new KeelError("BUDGET_INVALID", `${where}: expected createKeel({ price }) for a costUsd budget, found none`);
}

/**
 * @param {any} input
 * @param {string} where
 */
function checkInput(input, where) {
  if (typeof input === "string") return input;
  if (!Array.isArray(input)) throw optionInvalid(`${where}: input`, "a text or an array of content parts", input);
  for (const [index, part] of input.entries()) {
    if (typeof part?.type !== "string")
      throw optionInvalid(`${where}: input[${index}]`, "a content part with a type", part);
  }
  return input;
}

/**
 * @param {any} history
 * @param {string} where
 */
function checkHistory(history, where) {
  const messages = checkArray(history, `${where}: history`);
  for (const [index, message] of messages.entries()) {
    const place = `${where}: history[${index}]`;
    if (!["system", "user", "assistant", "tool"].includes(message?.role))
      throw optionInvalid(place, "a message with a role", message);
    if (typeof message.content !== "string" && !Array.isArray(message.content))
      throw optionInvalid(`${place}.content`, "a text or an array of parts", message.content);
  }
  return messages;
}

/**
 * @param {any} signal
 * @param {string} where
 */
export function checkSignal(signal, where) {
  if (signal === undefined) return undefined;
  const listens = ["addEventListener", "removeEventListener"].every((name) => typeof signal?.[name] === "function");
  if (listens && typeof signal.aborted === "boolean") return signal;
  throw optionInvalid(`${where}: signal`, "an AbortSignal", signal);
}

/**
 * @param {any} identity
 * @param {string} where
 */
function checkIdentity(identity, where) {
  if (identity === undefined) return undefined;
  const place = `${where}: identity`;
  if (typeof identity !== "object" || identity === null || typeof identity.id !== "string" || identity.id === "") {
    throw optionInvalid(place, "an object with an id", identity);
  }
  checkStrings(identity.scopes, `${place}.scopes`);
  return frozenJson(identity, place);
}

/**
 * One copy for the whole tree, which nobody can change (D-28).
 *
 * @param {any} value
 * @param {string} where
 */
export function frozenJson(value, where) {
  let copy;
  try {
    const text = JSON.stringify(value);
    copy = text && JSON.parse(text, (_, child) => Object.freeze(child));
  } catch (cause) {
    throw new KeelError("OPTION_INVALID", `${where}: expected a JSON value, found ${describe(value)}`, { cause });
  }
  if (copy === undefined) throw optionInvalid(where, "a JSON value", value);
  return copy;
}
