/**
 * Commands that lead up to a reply of the model: its instructions, its brief, the call itself.
 */

import { KeelError } from "../error.js";
import { callModel, describeModelError, modelId } from "../model.js";
import { ask, expect } from "./answering.js";
import { checksOf } from "./check-arguments.js";
import { tellError } from "./hook-commands.js";
import { ModelOptions } from "./model-options.js";
import { TurnContext } from "./turn-context.js";

/** @import { Host } from "../host.js" */
/** @import { HostTurn } from "./host-turn.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const modelCommands = {
  model(host, [, id, turnKey, append, offer, stream]) {
    const turn = host.turn(turnKey);
    turn.transcript.append(append);
    const effect = expect(host, id, turn);
    turn.scope.runInAsyncScope(runModel, undefined, host, turn, { id, offer, stream }, effect);
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
    const input = kept === null ? args : turn.kept(kept);
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
 * @param {{ id: number, offer: "all" | "submit" | "nothing", stream: boolean }} command
 * @param {EffectSignal} effect
 */
async function runModel(host, turn, { id, offer, stream }, effect) {
  const { model } = turn.agent.definition;
  let text;
  try {
    /** @type {any} */
    const options = new ModelOptions({ stream, clock: host.clock, turnId: turn.turnId }, effect);
    const request = turn.stepRequest(offer);
    host.samples.request = request;
    host.samples.options = options;
    const reply = await callModel(model, request, options, (delta) => {
      if (host.effects.has(id)) host.input("delta", { id, turnId: turn.turnId, kind: delta.type, text: delta.text });
    });
    turn.reply = reply;
    const json = JSON.stringify(priced(host, model, reply));
    const ahead = host.effects.has(id) ? checksOf(turn, reply.content) : "";
    text = ahead === "" ? `{"ok":${json}}` : `{"ok":${json.slice(0, -1)},"ahead":[${ahead}]}}`;
  } catch (error) {
    turn.run.modelErrors.set(turn.turnId, error);
    tellError(turn, effect, error);
    const { message, retryable, retryAfterMs } = describeModelError(error);
    text = JSON.stringify({ error: { message, retryable, retryAfterMs: retryAfterMs ?? null } });
  }
  host.answer(id, text);
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
