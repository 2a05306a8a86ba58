/**
 * Commands that lead up to a reply of the model: its instructions, its brief, the call itself.
 */

import { KeelError } from "../error.js";
import { callModel, describeModelError, isLanguageModel, modelId, readOwnReply } from "../model/call-model.js";
import { ask, expect } from "./answering.js";
import { checksOf } from "./check-arguments.js";
import { tellError } from "./hook-commands.js";
import { ModelOptions } from "./model-options.js";
import { boundedText } from "./tool-answer.js";
import { TurnContext } from "./turn-context.js";

/** @import { EffectSignal } from "./effect-signal.js" */
/** @import { Host } from "./host.js" */
/** @import { Run } from "./run.js" */

/** @type {Record<string, (run: Run, command: any, at: any) => void>} */
export const modelCommands = {
  model(run, /** @type {Int32Array} */ rows, /** @type {number} */ at) {
    const turn = run.turn(rows[at + 2]);
    const offer = OFFERS[rows[at + 3]];
    const stream = rows[at + 4] === 1;
    turn.append(at + 5);
    const effect = expect(rows[at + 1], turn);
    turn.scope.runInAsyncScope(runModel, undefined, effect, offer, stream);
  },

  instructions(run, [, id, turnKey, sources]) {
    const turn = run.turn(turnKey);
    const { reads, instructions } = turn.agent.definition;
    ask({ id, turn }, async (effect) => {
      const context = new TurnContext(turn, effect);
      const texts = [];
      for (const index of sources)
        texts.push(checkText(await reads[index].load(context), `source '${reads[index].id}'`));
      const own = typeof instructions === "function" ? await instructions(context) : (instructions ?? "");
      texts.push(checkText(own, "instructions"));
      return texts.filter((text) => text !== "").join("\n\n");
    });
  },

  brief(run, [, id, turnKey, ticket, toolIndex, args, kept]) {
    const turn = run.turn(turnKey);
    const tool = turn.agent.tools[toolIndex].definition;
    const input = kept === null ? args : run.kept.get(kept);
    ask({ id, turn, ticket }, async () => {
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
 * @param {EffectSignal} effect
 * @param {"all" | "submit" | "nothing"} offer
 * @param {boolean} stream
 */
async function runModel(effect, offer, stream) {
  const { turn } = effect;
  const { host } = turn.run;
  const { model } = turn.agent.definition;
  /** @type {any} */
  let reply;
  let checks;
  try {
    /** @type {any} */
    const options = new ModelOptions({ stream, clock: host.clock, turnId: turn.turnId }, effect);
    host.samples.options = options;
    const onDelta = stream ? deltasOf(host, effect) : undefined;
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
    checks = checksOf(turn);
  } catch (error) {
    turn.run.modelErrors.set(turn.turnId, error);
    tellError(turn, effect, error);
    const { message, retryable, retryAfterMs = null } = describeModelError(error);
    host.answer(effect, JSON.stringify({ error: { message: boundedText(message), retryable, retryAfterMs } }));
    return;
  }
  host.reply(effect, reply, checks);
}

export const OFFERS = /** @type {const} */ (["all", "submit", "nothing"]);

/**
 * @param {Host} host
 * @param {EffectSignal} effect
 * @returns {import("../model/call-model.js").OnDelta}
 */
function deltasOf(host, effect) {
  return ({ type, text }) => {
    if (effect.isOpen) host.letter(effect, "delta", JSON.stringify({ kind: type, text }));
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
