/**
 * Commands that lead up to a reply of the model: its instructions, its brief, the call itself.
 */

import { KeelError } from "../error.js";
import { callModel, describeModelError, modelId } from "../model.js";
import { ask, expect, turnOf } from "./answering.js";
import { tellError } from "./hook-commands.js";
import { ModelOptions } from "./model-options.js";

/** @import { Host } from "../host.js" */
/** @import { HostTurn } from "./host-turn.js" */
/** @import { EffectSignal } from "./effect-signal.js" */

/** @type {Record<string, (host: Host, command: any) => void>} */
export const modelCommands = {
  model(host, command) {
    const turn = turnOf(host, command);
    turn.transcript.append(command.append);
    const effect = expect(host, command);
    turn.scope.runInAsyncScope(runModel, undefined, host, turn, command, effect);
  },

  instructions(host, command) {
    const turn = turnOf(host, command);
    const { reads, instructions } = turn.agent.definition;
    ask(host, command, async (effect) => {
      const context = turn.context(effect);
      const texts = [];
      for (const index of command.sources)
        texts.push(checkText(await reads[index].load(context), `source '${reads[index].id}'`));
      const own = typeof instructions === "function" ? await instructions(context) : (instructions ?? "");
      texts.push(checkText(own, "instructions"));
      return texts.filter((text) => text !== "").join("\n\n");
    });
  },

  brief(host, command) {
    const turn = turnOf(host, command);
    const tool = turn.agent.tools[command.tool].definition;
    const input = host.prepared.has(command.key) ? host.prepared.get(command.key) : command.args;
    ask(host, command, async () => {
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
 * @param {any} command
 * @param {EffectSignal} effect
 */
async function runModel(host, turn, command, effect) {
  const { model } = turn.agent.definition;
  let text;
  try {
    /** @type {any} */
    const options = new ModelOptions({ stream: command.stream, clock: host.clock, turnId: turn.turnId }, effect);
    const request = turn.stepRequest(command.offer);
    host.samples.request = request;
    host.samples.options = options;
    const reply = await callModel(model, request, options, (delta) => {
      if (host.effects.has(command.id))
        host.input("delta", { id: command.id, turnId: turn.turnId, kind: delta.type, text: delta.text });
    });
    turn.reply = reply;
    text = JSON.stringify({ ok: priced(host, model, reply) });
  } catch (error) {
    turn.run.modelErrors.set(turn.turnId, error);
    tellError(turn, effect, error);
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
