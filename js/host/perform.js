/**
 * The host's half of each command, by its `type`. User code is called from `async` functions alone, so that whatever it
 * does (a throw, a value that is no promise, a promise that never settles) ends in one answer or in none.
 */

import { KeelError } from "../error.js";
import { callModel, describeModelError, modelId } from "../model.js";
import { EffectSignal } from "./effect-signal.js";
import { HostCall } from "./host-call.js";
import { HostTurn } from "./host-turn.js";
import { ModelOptions } from "./model-options.js";
import { thrown, resultAnswer, thrownAnswer } from "./tool-answer.js";
import { ToolContext } from "./tool-context.js";
import { resultOf } from "../result.js";
import { validate } from "./validate.js";

/** @import { Host } from "../host.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const perform = {
  open(host, command) {
    const run = /** @type {any} */ (host.runs.get(command.rootTurnId));
    host.turns.set(command.turnId, new HostTurn(command, run, run.program.agents[command.agent]));
  },

  close(host, { turnId }) {
    host.turns.delete(turnId);
  },

  settled(host, { turnId, append, result }) {
    const turn = /** @type {HostTurn} */ (host.turns.get(turnId));
    turn.transcript.append(append);
    host.turns.delete(turnId);
    host.release(turn.run);
    turn.run.settle(resultOf(result, turn, host));
  },

  event(host, { event }) {
    host.runs.get(event.rootTurnId)?.onEvent?.(event);
  },

  wake(host, { at }) {
    host.wakeAt(at);
  },

  cancel(host, { id, code, message }) {
    const effect = host.effects.get(id);
    host.effects.delete(id);
    effect?.cancel(code, message);
  },

  release(host, { key }) {
    host.prepared.delete(key);
  },

  model(host, command) {
    const turn = turnOf(host, command);
    turn.transcript.append(command.append);
    const effect = expect(host, turn, command);
    turn.run.enter(runModel, host, turn, command, effect);
  },

  call(host, command) {
    const turn = turnOf(host, command);
    const effect = expect(host, turn, command);
    const call = new HostCall(host, turn, command, effect);
    effect.call = call;
    const isPrepared = host.prepared.has(call.key);
    const input = isPrepared ? host.prepared.get(call.key) : command.args;
    if (isPrepared) host.prepared.delete(call.key);
    turn.run.enter(runTool, host, call, input, command.id);
  },

  prepare(host, command) {
    const turn = turnOf(host, command);
    const tool = turn.agent.tools[command.tool].definition;
    expect(host, turn, command);
    /** @param {unknown} value */
    const accept = (value) => {
      host.prepared.set(command.key, value);
      if (typeof tool.concurrency !== "function") return '{"ok":{"exclusive":null}}';
      return JSON.stringify({ ok: { exclusive: tool.concurrency(value) !== "shared" } });
    };
    turn.run.enter(validate, tool.input, command.args, accept, (/** @type {string} */ text) => host.answer(command.id, text));
  },

  preparePart(host, command) {
    const turn = turnOf(host, command);
    const { schema } = turn.agent.emits[command.part].definition;
    expect(host, turn, command);
    /** @param {unknown} value */
    const accept = (value) => JSON.stringify({ ok: { value: value ?? null } });
    turn.run.enter(validate, schema, command.value, accept, (/** @type {string} */ text) => host.answer(command.id, text));
  },

  access(host, command) {
    const turn = turnOf(host, command);
    const { tools, definition } = turn.agent;
    const subject = command.tool === null ? definition.reads[command.source] : tools[command.tool].definition;
    const who = Object.freeze({ ...turn.facts, scopes: turn.scopes });
    // Anything but an explicit yes refuses (D-16).
    ask(host, turn, command, async () => (await subject.access(who)) === true);
  },

  instructions(host, command) {
    const turn = turnOf(host, command);
    const { reads, instructions } = turn.agent.definition;
    ask(host, turn, command, async (effect) => {
      const context = Object.freeze(Object.defineProperty(turn.facts, "signal", { get: () => effect.signal, enumerable: true }));
      const texts = [];
      for (const index of command.sources) texts.push(checkText(await reads[index].load(context), `source '${reads[index].id}'`));
      const own = typeof instructions === "function" ? await instructions(context) : (instructions ?? "");
      texts.push(checkText(own, "instructions"));
      return texts.filter((text) => text !== "").join("\n\n");
    });
  },

  brief(host, command) {
    const turn = turnOf(host, command);
    const tool = turn.agent.tools[command.tool].definition;
    const input = host.prepared.has(command.key) ? host.prepared.get(command.key) : command.args;
    ask(host, turn, command, async () => {
      const brief = await tool.delegation.brief(input);
      if (typeof brief === "string" || Array.isArray(brief)) return brief;
      throw new KeelError("OPTION_INVALID", `tool '${tool.id}': expected brief() to return a text, found ${typeof brief}`);
    });
  },
};

/**
 * @param {Host} host
 * @param {HostTurn} turn
 * @param {any} command
 * @param {EffectSignal} effect
 */
async function runModel(host, turn, command, effect) {
  const { model } = turn.agent.definition;
  let text;
  try {
    /** @type {any} */
    const options = new ModelOptions({ stream: command.stream, clock: host.clock, turnId: turn.turnId }, effect);
    const request = turn.request(command.offer);
    host.samples.request = request;
    host.samples.options = options;
    const reply = await callModel(model, request, options, (delta) => {
      if (host.effects.has(command.id)) host.input("delta", { id: command.id, turnId: turn.turnId, kind: delta.type, text: delta.text });
    });
    text = JSON.stringify({ ok: priced(host, model, reply) });
  } catch (error) {
    turn.run.modelErrors.set(turn.turnId, error);
    const { message, retryable, retryAfterMs } = describeModelError(error);
    text = JSON.stringify({ error: { message, retryable, retryAfterMs: retryAfterMs ?? null } });
  }
  host.answer(command.id, text);
}

/**
 * @param {Host} host
 * @param {any} model
 * @param {any} reply
 */
function priced(host, model, reply) {
  const { price } = host.options;
  if (!price) return reply;
  const costUsd = price({ ...reply.usage, nudges: 0 }, modelId(model));
  if (!(costUsd >= 0 && costUsd < Infinity)) {
    throw new KeelError("OPTION_INVALID", `price(usage, '${modelId(model)}'): expected a number of US dollars, found ${String(costUsd)}`);
  }
  return { ...reply, usage: { ...reply.usage, costUsd } };
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {unknown} input
 * @param {number} id
 */
function runTool(host, call, input, id) {
  const context = new ToolContext(call);
  host.samples.context = context;
  let returned;
  try {
    checkPerformable(call.tool);
    returned = call.tool.execute(input, context);
    if (typeof returned?.then !== "function") return settle(host, call, id, returned);
  } catch (error) {
    return settleThrown(host, call, id, error);
  }
  awaitTool(host, call, id, returned);
}

/**
 * What a tool asks of a human or of the host, and nobody here can give, keeps its body from running: a safeguard that is
 * not there must not look as if it had been passed.
 *
 * @param {any} tool
 */
function checkPerformable({ id, approval, external, injects }) {
  const needs =
    (approval === "required" && "needs an approval, and there is nobody to ask") ||
    (external && "is performed by the host, and there is no way to ask it") ||
    (injects.length > 0 && "needs arguments that only the host may set, and there is no way to ask it");
  if (needs) throw new KeelError("TOOL_FAILED", `tool '${id}' ${needs}`);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {number} id
 * @param {PromiseLike<unknown>} promise
 */
async function awaitTool(host, call, id, promise) {
  let returned;
  try {
    returned = await promise;
  } catch (error) {
    return settleThrown(host, call, id, error);
  }
  settle(host, call, id, returned);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {number} id
 * @param {unknown} returned
 */
function settle(host, call, id, returned) {
  let text;
  try {
    text = resultAnswer(call.tool, returned);
  } catch (error) {
    text = thrownAnswer(error);
  }
  call.settle();
  host.answer(id, text);
}

/**
 * @param {Host} host
 * @param {HostCall} call
 * @param {number} id
 * @param {unknown} error
 */
function settleThrown(host, call, id, error) {
  call.settle();
  host.answer(id, thrownAnswer(error));
}

/**
 * Asks a user's callback and answers with what it returned or threw.
 *
 * @param {Host} host
 * @param {HostTurn} turn
 * @param {any} command
 * @param {(effect: EffectSignal) => Promise<unknown>} callback
 */
function ask(host, turn, command, callback) {
  const effect = expect(host, turn, command);
  turn.run.enter(async () => {
    let text;
    try {
      text = JSON.stringify({ ok: await callback(effect) });
    } catch (error) {
      text = JSON.stringify({ thrown: thrown(error) });
    }
    host.answer(command.id, text);
  });
}

/**
 * Notes that a command will be answered.
 *
 * @param {Host} host
 * @param {HostTurn} turn
 * @param {any} command
 */
function expect(host, turn, command) {
  const effect = new EffectSignal(turn);
  host.samples.effect = effect;
  host.effects.set(command.id, effect);
  return effect;
}

/**
 * @param {Host} host
 * @param {any} command
 */
function turnOf(host, command) {
  return /** @type {HostTurn} */ (host.turns.get(command.turnId));
}

/**
 * @param {unknown} text
 * @param {string} what
 */
function checkText(text, what) {
  if (typeof text === "string") return text;
  throw new KeelError("INSTRUCTIONS_FAILED", `${what}: expected a text, found ${text === null ? "null" : typeof text}`);
}
