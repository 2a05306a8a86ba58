/**
 * Commands that ask middleware, access rules, the host's gate and humans. All hooks of one stage run in one go, in order,
 * outermost first (D-16); what a refusal means is decided in the kernel.
 */

import { KeelError } from "../error.js";
import { describe } from "../definitions/options.js";
import { ask, askPlainly } from "./answering.js";
import { callView } from "./call-view.js";
import { thrown, wireResult } from "./tool-answer.js";
import { TurnContext } from "./turn-context.js";
import { runWraps } from "./wraps.js";

/** @import { Answer } from "./answering.js" */
/** @import { EffectSignal } from "./effect-signal.js" */
/** @import { HostTurn } from "./host-turn.js" */
/** @import { Run } from "./run.js" */

/** @type {Record<string, (run: Run, command: any) => void>} */
export const hookCommands = {
  access(run, [, id, turnKey, ticket, toolIndex, sourceIndex]) {
    const turn = run.turn(turnKey);
    const { tools, definition } = turn.agent;
    const subject = toolIndex === null ? definition.reads[sourceIndex] : tools[toolIndex].definition;
    const who = Object.freeze({ ...turn.facts, scopes: turn.scopes });
    // Anything but an explicit yes refuses (D-16).
    ask({ id, turn, ticket }, async () => (await subject.access(who)) === true);
  },

  hooks(run, [, id, turnKey, stage, ticket, place, call, result, offer]) {
    const turn = run.turn(turnKey);
    // One hook cannot change what the next one sees.
    const subject = {
      call: call === null ? null : callView(turn, ticket, place, call),
      result: result === null ? null : Object.freeze(run.tickets.resultOf(ticket, result)),
      offer,
    };
    askPlainly(
      { id, turn, ticket },
      (effect) => stages[stage](turn, new TurnContext(turn, effect), subject, effect),
      "refused",
    );
  },

  wrap(run, [, id, turnKey, ticket, place, call]) {
    const turn = run.turn(turnKey);
    runWraps({ id, turn, ticket }, callView(turn, ticket, place, call));
  },

  authorize(run, [, id, turnKey, ticket, place, call]) {
    const turn = run.turn(turnKey);
    const view = callView(turn, ticket, place, call);
    const request = Object.freeze({
      ...view,
      isNested: view.level > 0,
      ...(turn.run.identity && { identity: turn.run.identity }),
    });
    askPlainly({ id, turn, ticket }, async () => authorization(await run.host.options.security.authorizeTool(request)));
  },

  approve(run, [, id, turnKey, pending]) {
    askPlainly({ id, turn: run.turn(turnKey) }, async () => {
      try {
        return approval(await run.host.options.approve(pending));
      } catch (error) {
        return { deny: `approve() failed: ${thrown(error).message}` };
      }
    });
  },

  inject(run, [, id, turnKey, ticket, place, call]) {
    const turn = run.turn(turnKey);
    ask({ id, turn, ticket }, async () => {
      const values = await run.host.options.injected?.(callView(turn, ticket, place, call));
      if (typeof values === "object" && values !== null) return values;
      throw new KeelError("VALIDATION", `injected(): expected an object of values, found ${describe(values)}`);
    });
  },

  ledger(run, [, id, turnKey, entry]) {
    ask({ id, turn: run.turn(turnKey) }, async () => {
      const { ledger } = run.host.options;
      const { type, ...row } = entry;
      if (type !== "unresolved") {
        await ledger[type]?.(row);
        return null;
      }
      const rows = (await ledger.unresolved?.(row.turnId)) ?? [];
      return Array.from(rows, (/** @type {any} */ left) => String(typeof left === "object" ? left?.callId : left));
    });
  },
};

/**
 * What each stage answers: at once where its hooks do, and nothing where they have nothing to say.
 *
 * @type {Record<string, (turn: HostTurn, context: any, subject: any, effect: EffectSignal) => Answer | Promise<Answer>>}
 */
const stages = {
  beforeTool: (turn, context, { call }, effect) => admit(turn, "beforeTool", context, call, effect),
  checkNestedTool: (turn, context, { call }, effect) => admit(turn, "checkNestedTool", context, call, effect),

  async afterTool(turn, context, { call, result }) {
    let shown = result;
    for (const layer of turn.layersWith("afterTool")) shown = (await layer.afterTool(context, call, shown)) ?? shown;
    return shown === result ? undefined : { ok: wireResult(call.toolId, shown) };
  },

  observeNestedResult: (turn, context, { call, result }, effect) =>
    observeFrom(0, turn.layersWith("observeNestedResult"), turn, context, call, result, effect),

  async beforeModel(turn, context, { offer }) {
    let request = turn.request(offer);
    for (const layer of turn.layersWith("beforeModel"))
      request = (await layer.beforeModel(context, request)) ?? request;
    turn.nextRequest = request;
    return undefined;
  },

  async afterModel(turn, context) {
    for (const layer of turn.layersWith("afterModel")) await layer.afterModel(context, turn.reply);
    return undefined;
  },
};

/**
 * Shows a result to the observers from one on; waits only for those that take their time.
 *
 * @param {number} first
 * @param {readonly any[]} layers
 * @param {HostTurn} turn
 * @param {any} context
 * @param {any} call
 * @param {any} result
 * @param {EffectSignal} effect
 * @returns {undefined | Promise<undefined>}
 */
function observeFrom(first, layers, turn, context, call, result, effect) {
  for (let index = first; index < layers.length; index += 1) {
    try {
      const seen = layers[index].observeNestedResult(context, call, result);
      if (!isPromise(seen)) continue;
      const observed = Promise.resolve(seen).catch((error) => tellError(turn, effect, error));
      return observed.then(() => observeFrom(index + 1, layers, turn, context, call, result, effect));
    } catch (error) {
      tellError(turn, effect, error);
    }
  }
  return undefined;
}

/**
 * Asks the hooks of an admission stage until one refuses. A call of the model that one of them leaves to a human has to
 * pass the others first: no human is asked about what may not run anyway. A nested call is refused by that already.
 *
 * @param {HostTurn} turn
 * @param {string} stage
 * @param {any} context
 * @param {any} call
 * @param {EffectSignal} effect
 */
function admit(turn, stage, context, call, effect) {
  return admitFrom(0, false, turn.layersWith(stage), stage, context, call, effect);
}

/**
 * @param {number} first of the hooks that are not asked yet
 * @param {boolean} needsApproval one of those before has said so
 * @param {readonly any[]} layers
 * @param {string} stage
 * @param {any} context
 * @param {any} call
 * @param {EffectSignal} effect
 * @returns {Answer | Promise<Answer>}
 */
function admitFrom(first, needsApproval, layers, stage, context, call, effect) {
  for (let index = first; index < layers.length && !effect.isCancelled; index += 1) {
    const layer = layers[index];
    let given;
    try {
      given = layer[stage](context, call);
    } catch (error) {
      return { refused: thrown(error) };
    }
    if (given === undefined) continue;
    if (isPromise(given)) return admitLater(given, index, needsApproval, layers, stage, context, call, effect);
    if (given !== "defer") return refusalOf(given, layer, stage);
    needsApproval = true;
    if (call.level > 0) break;
  }
  return needsApproval ? "needsApproval" : undefined;
}

/**
 * The same from a hook on that takes its time.
 *
 * @param {PromiseLike<any>} promise its verdict
 * @param {number} index
 * @param {boolean} needsApproval
 * @param {readonly any[]} layers
 * @param {string} stage
 * @param {any} context
 * @param {any} call
 * @param {EffectSignal} effect
 * @returns {Promise<Answer>}
 */
async function admitLater(promise, index, needsApproval, layers, stage, context, call, effect) {
  let verdict;
  try {
    verdict = await promise;
  } catch (error) {
    return { refused: thrown(error) };
  }
  if (verdict !== undefined && verdict !== "defer") return refusalOf(verdict, layers[index], stage);
  const defers = needsApproval || verdict === "defer";
  if (defers && call.level > 0) return "needsApproval";
  return admitFrom(index + 1, defers, layers, stage, context, call, effect);
}

/**
 * @param {any} verdict that does not admit
 * @param {any} layer
 * @param {string} stage
 */
function refusalOf(verdict, layer, stage) {
  if (typeof verdict?.deny === "string") return { refused: { code: "TOOL_FAILED", message: verdict.deny } };
  const message = `middleware '${layer.name}': expected ${stage} to return undefined or { deny }, found ${describe(verdict)}`;
  return { refused: { message } };
}

/**
 * Most hooks answer at once, and nobody has to wait for those.
 *
 * @param {any} given
 */
function isPromise(given) {
  return typeof given?.then === "function";
}

/**
 * Tells the `onError` hooks; what they do changes nothing.
 *
 * @param {HostTurn} turn
 * @param {EffectSignal} effect
 * @param {unknown} error
 */
export function tellError(turn, effect, error) {
  for (const layer of turn.layersWith("onError")) {
    (async () => layer.onError(new TurnContext(turn, effect), error))().catch(() => {});
  }
}

/**
 * A reason to deny wins over anything that is said next to it.
 *
 * @param {any} verdict
 */
function authorization(verdict) {
  // What stands on a prototype is no answer: a polluted one must not open the gate.
  const own = typeof verdict === "object" && verdict !== null ? { ...verdict } : { allow: verdict };
  if (typeof own.deny === "string") return { deny: own.deny };
  const says = (/** @type {string} */ name) => Object.hasOwn(own, name) && own[name] === true;
  return says("allow") || says("prompted") ? "allow" : { deny: null };
}

/** @param {any} verdict */
function approval(verdict) {
  if (verdict === "allow" || verdict === "defer") return verdict;
  if (typeof verdict?.deny === "string") return { deny: verdict.deny };
  return { deny: `expected approve() to answer "allow", { deny } or "defer", found ${describe(verdict)}` };
}
