/**
 * Commands that lead up to a reply of the model: its instructions, its brief, the call itself.
 */

import { KeelError } from "../error.js";
import { callModel, describeModelError, isLanguageModel, modelId, readOwnReply } from "../model/call-model.js";
import { ask, expect } from "./answering.js";
import { checksOf } from "./check-arguments.js";
import { tellError } from "./hook-commands.js";
import { ModelOptions } from "./model-options.js";
import { TurnContext } from "./turn-context.js";

/** @import { Host } from "./host.js" */
/** @import { HostTurn } from "./host-turn.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

/** @type {Record<string, (host: Host, command: any, at: any) => void>} */
export const modelCommands = {
  model(host, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const id = rows[at + 1];
    const turn = host.turn(/** @type {number} */ (rows[at + 2]));
    const end = at + 4 + /** @type {number} */ (rows[at + 3]);
    const offer = OFFERS[/** @type {number} */ (rows[end])];
    const stream = rows[end + 1] === 1;
    turn.append(host, at + 3);
    const effect = expect(host, /** @type {number} */ (id), turn);
    turn.scope.runInAsyncScope(runModel, undefined, host, turn, effect, offer, stream);
  },

  instructions(host, [, id, turnKey, sources]) {
    const turn = host.turn(turnKey);
    const { reads, instructions } = turn.agent.definition;
    ask(host, { id, turn }, async (effect) => {
      const context = new TurnContext(turn, effect);
      const texts = [];
      for (const index of sources)
        texts.push(checkText(await reads[index].load(context), `source '${reads[index].id}'`));
      const own = typeof instructions === "function" ? await instructions(context) : (instructions ?? "");
      texts.push(checkText(own, "instructions"));
      return texts.filter((text) => text !== "").join("\n\n");
    });
  },

  brief(host, [, id, turnKey, ticket, toolIndex, args, kept]) {
    const turn = host.turn(turnKey);
    const tool = turn.agent.tools[toolIndex].definition;
    const input = kept === null ? args : host.kept.get(kept);
    ask(host, { id, turn, ticket }, async () => {
      const brief = await tool.delegation.brief(input);
      if (typeof brief === "string" || Array.isArray(brief)) return brief;
      throw new KeelError(
        "OPTION_INVALID",
        `tool '${tool.id}': expected brief() to return a text, found ${typeof brief}`,
      );
    });
  },
};

/**
 * @param {Host} host
 * @param {HostTurn} turn
 * @param {EffectSignal} effect
 * @param {"all" | "submit" | "nothing"} offer
 * @param {boolean} stream
 */
async function runModel(host, turn, effect, offer, stream) {
  const { model } = turn.agent.definition;
  /** @type {any} */
  let reply;
  let checks;
  try {
    /** @type {any} */
    const options = new ModelOptions({ stream, clock: host.clock, turnId: turn.turnId }, effect);
    host.samples.options = options;
    const onDelta = stream ? deltasOf(host, turn, effect) : undefined;
    if (isLanguageModel(model)) {
      reply = await callModel(model, turn.stepRequest(offer), options, onDelta);
    } else {
      const given = await model.generate(turn.ownRequest(offer), options);
      reply = readOwnReply(model, given, onDelta);
      if (reply instanceof Promise) reply = await reply;
    }
    if (host.options.price !== undefined) reply = priced(host, model, reply);
    if (!effect.isOpen) return;
    turn.reply = reply;
    checks = checksOf(host, turn);
  } catch (error) {
    turn.run.modelErrors.set(turn.turnId, error);
    tellError(turn, effect, error);
    const { message, retryable, retryAfterMs } = describeModelError(error);
    host.answer(effect, JSON.stringify({ error: { message, retryable, retryAfterMs: retryAfterMs ?? null } }));
    return;
  }
  host.reply(effect, reply, checks);
}

const OFFERS = /** @type {const} */ (["all", "submit", "nothing"]);

/**
 * @param {Host} host
 * @param {HostTurn} turn
 * @param {EffectSignal} effect
 * @returns {import("../model/call-model.js").OnDelta}
 */
function deltasOf(host, turn, effect) {
  return (delta) => {
    if (effect.isOpen) host.input("delta", { id: effect.id, turnId: turn.turnId, kind: delta.type, text: delta.text });
  };
}

/**
 * @param {Host} host
 * @param {any} model
 * @param {any} reply
 */
function priced(host, model, reply) {
  const { price } = host.options;
  const costUsd = price({ ...reply.usage, nudges: 0 }, modelId(model));
  if (!(costUsd >= 0 && costUsd < Infinity)) {
    throw new KeelError(
      "OPTION_INVALID",
      `price(usage, '${modelId(model)}'): expected a number of US dollars, found ${String(costUsd)}`,
    );
  }
  return { ...reply, usage: { ...reply.usage, costUsd } };
}

/**
 * @param {unknown} text
 * @param {string} what
 */
function checkText(text, what) {
  if (typeof text === "string") return text;
  throw new KeelError("INSTRUCTIONS_FAILED", `${what}: expected a text, found ${text === null ? "null" : typeof text}`);
}
