/**
 * Commands that ask middleware, access rules, the host's gate and humans. All hooks of one stage run in one go, in order,
 * outermost first (D-16); what a refusal means is decided in the kernel.
 */

import { freezeDeep } from "../freeze-deep.js";
import { KeelError } from "../error.js";
import { describe } from "../options.js";
import { ask, askPlainly, turnOf } from "./answering.js";
import { thrown, wireResult } from "./tool-answer.js";
import { runWraps } from "./wraps.js";

/** @import { Host } from "../host.js" */
/** @import { HostTurn } from "./host-turn.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const hookCommands = {
  access(host, command) {
    const turn = turnOf(host, command);
    const { tools, definition } = turn.agent;
    const subject = command.tool === null ? definition.reads[command.source] : tools[command.tool].definition;
    const who = Object.freeze({ ...turn.facts, scopes: turn.scopes });
    // Anything but an explicit yes refuses (D-16).
    ask(host, command, async () => (await subject.access(who)) === true);
  },

  hooks(host, command) {
    const turn = turnOf(host, command);
    // One hook cannot change what the next one sees.
    if (command.call) freezeDeep(command.call);
    askPlainly(
      host,
      command,
      (effect) => stages[command.stage](turn, turn.context(effect), command, effect),
      "refused",
    );
  },

  wrap(host, command) {
    runWraps(host, command);
  },

  authorize(host, command) {
    const turn = turnOf(host, command);
    const call = freezeDeep(command.call);
    const request = Object.freeze({
      ...call,
      isNested: call.level > 0,
      ...(turn.run.identity && { identity: turn.run.identity }),
    });
    askPlainly(host, command, async () => authorization(await host.options.security.authorizeTool(request)));
  },

  approve(host, command) {
    askPlainly(host, command, async () => {
      try {
        return approval(await host.options.approve(command.pending));
      } catch (error) {
        return { deny: `approve() failed: ${thrown(error).message}` };
      }
    });
  },

  inject(host, command) {
    ask(host, command, async () => {
      const values = await host.options.injected?.(command.call);
      if (typeof values === "object" && values !== null) return values;
      throw new KeelError("VALIDATION", `injected(): expected an object of values, found ${describe(values)}`);
    });
  },

  ledger(host, command) {
    const { type, ...entry } = command.entry;
    ask(host, command, async () => {
      const { ledger } = host.options;
      if (type !== "unresolved") {
        await ledger[type]?.(entry);
        return null;
      }
      const rows = (await ledger.unresolved?.(entry.turnId)) ?? [];
      return Array.from(rows, (/** @type {any} */ row) => String(typeof row === "object" ? row?.callId : row));
    });
  },
};

/** @type {Record<string, (turn: HostTurn, context: any, command: any, effect: EffectSignal) => Promise<object | string>>} */
const stages = {
  beforeTool: (turn, context, { call }, effect) => admit(turn, "beforeTool", context, call, effect),
  checkNestedTool: (turn, context, { call }, effect) => admit(turn, "checkNestedTool", context, call, effect),

  async afterTool(turn, context, { call, result }) {
    let shown = Object.freeze(result);
    for (const layer of turn.layersWith("afterTool")) shown = (await layer.afterTool(context, call, shown)) ?? shown;
    return { ok: shown === result ? null : wireResult(call.toolId, shown) };
  },

  async observeNestedResult(turn, context, { call, result }, effect) {
    const shown = Object.freeze(result);
    for (const layer of turn.layersWith("observeNestedResult")) {
      try {
        await layer.observeNestedResult(context, call, shown);
      } catch (error) {
        tellError(turn, effect, error);
      }
    }
    return { ok: null };
  },

  async beforeModel(turn, context, { offer }) {
    let request = turn.request(offer);
    for (const layer of turn.layersWith("beforeModel"))
      request = (await layer.beforeModel(context, request)) ?? request;
    turn.nextRequest = request;
    return { ok: null };
  },

  async afterModel(turn, context) {
    for (const layer of turn.layersWith("afterModel")) await layer.afterModel(context, turn.reply);
    return { ok: null };
  },
};

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
async function admit(turn, stage, context, call, effect) {
  let needsApproval = false;
  for (const layer of turn.layersWith(stage)) {
    if (effect.isCancelled) break;
    try {
      const verdict = await layer[stage](context, call);
      if (verdict === undefined) continue;
      if (verdict === "defer") {
        needsApproval = true;
        if (call.level > 0) break;
        continue;
      }
      if (typeof verdict?.deny === "string") return { refused: { code: "TOOL_FAILED", message: verdict.deny } };
      const message = `middleware '${layer.name}': expected ${stage} to return undefined or { deny }, found ${describe(verdict)}`;
      return { refused: { message } };
    } catch (error) {
      return { refused: thrown(error) };
    }
  }
  return needsApproval ? "needsApproval" : { ok: null };
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
    (async () => layer.onError(turn.context(effect), error))().catch(() => {});
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
