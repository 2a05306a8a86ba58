/**
 * Checks of what createKeel() is given.
 */

import { checkAgent } from "../definitions/agent.js";
import { checkLimits } from "../definitions/budget.js";
import { checkGuarded, checkMiddleware } from "../definitions/define-middleware.js";
import {
  checkArray,
  checkChoice,
  checkCount,
  checkOptions,
  checkStrings,
  checkType,
  optionInvalid,
} from "../definitions/options.js";
import { KeelError } from "../error.js";
import { systemClock } from "./clock.js";

const OPTIONS = [
  "records",
  "agents",
  "middleware",
  "security",
  "approve",
  "ledger",
  "durability",
  "keep",
  "capture",
  "injected",
  "workspace",
  "price",
  "clock",
  "limits",
  "exposeErrors",
];

/** @param {any} options */
export function checkKeel(options) {
  const where = "createKeel";
  checkOptions(options, OPTIONS, where);
  checkType(options.records, "string", `${where}: records`);
  if (options.records !== undefined && options.records !== ":memory:") {
    throw new KeelError(
      "STORE_UNSUPPORTED",
      `${where}: records: expected ":memory:", the only store of this version, found ${JSON.stringify(options.records)}`,
    );
  }
  for (const [index, agent] of checkArray(options.agents, `${where}: agents`).entries())
    checkAgent(agent, `${where}: agents[${index}]`);
  checkChoice(options.durability, ["relaxed", "strict"], `${where}: durability`);
  const keep = options.keep === undefined ? {} : checkOptions(options.keep, ["trees"], `${where}: keep`);
  const middleware = checkMiddleware(options.middleware, where);
  const limits = checkLimits(options.limits, where);
  if (limits?.maxNestedDepth > 0) checkGuarded(middleware, where);
  return {
    middleware,
    limits,
    security: checkSecurity(options.security, `${where}: security`),
    approve: checkType(options.approve, "function", `${where}: approve`),
    ledger: checkLedger(options.ledger, `${where}: ledger`),
    injected: checkType(options.injected, "function", `${where}: injected`),
    workspace: checkWorkspace(options.workspace, `${where}: workspace`),
    keepTrees: checkCount(keep.trees, `${where}: keep.trees`),
    capture: checkCapture(options.capture, `${where}: capture`),
    price: checkType(options.price, "function", `${where}: price`),
    clock: checkClock(options.clock, `${where}: clock`),
    exposeErrors: checkType(options.exposeErrors, "boolean", `${where}: exposeErrors`) ?? false,
  };
}

/**
 * @param {any} security
 * @param {string} where
 */
function checkSecurity(security, where) {
  if (security === undefined) return undefined;
  checkOptions(security, ["authorizeTool", "allowTools", "failClosed"], where);
  return {
    authorizeTool: checkType(security.authorizeTool, "function", `${where}.authorizeTool`),
    allowTools:
      security.allowTools === undefined ? undefined : checkStrings(security.allowTools, `${where}.allowTools`),
    failClosed: checkType(security.failClosed, "boolean", `${where}.failClosed`) ?? true,
  };
}

/**
 * @param {any} ledger
 * @param {string} where
 */
function checkLedger(ledger, where) {
  if (ledger === undefined) return undefined;
  if (typeof ledger !== "object" || ledger === null || Array.isArray(ledger) || typeof ledger.then === "function")
    throw optionInvalid(where, "an object with started, settled and unresolved", ledger);
  for (const method of ["started", "settled", "unresolved"])
    checkType(ledger[method], "function", `${where}.${method}`);
  checkChoice(ledger.onStartFailure, ["abort", "continue"], `${where}.onStartFailure`);
  return ledger;
}

/**
 * @param {any} workspace
 * @param {string} where
 */
function checkWorkspace(workspace, where) {
  if (workspace === undefined) return undefined;
  checkOptions(workspace, ["sandbox"], where);
  checkChoice(workspace.sandbox, ["inherit", "disabled", "required"], `${where}.sandbox`);
  return Object.freeze({ ...workspace });
}

/**
 * @param {any} capture
 * @param {string} where
 */
function checkCapture(capture = {}, where) {
  checkOptions(capture, ["toolIo", "modelIo", "redact"], where);
  return {
    toolIo: checkType(capture.toolIo, "boolean", `${where}.toolIo`) ?? false,
    modelIo: checkType(capture.modelIo, "boolean", `${where}.modelIo`) ?? false,
    redact: checkType(capture.redact, "function", `${where}.redact`),
  };
}

/**
 * @param {any} clock
 * @param {string} where
 */
function checkClock(clock, where) {
  if (clock === undefined) return systemClock;
  if (["now", "wallNow", "setTimer"].every((name) => typeof clock?.[name] === "function")) return clock;
  throw optionInvalid(where, "a clock with now(), wallNow() and setTimer()", clock);
}
