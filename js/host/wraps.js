/**
 * The wrap layers around a call. They run here, outermost first; the `next()` of the innermost goes to the kernel, which
 * runs the base, so that a layer may call it again, with other arguments, or not at all.
 */

import { KeelError } from "../error.js";
import { expect, scopeOf } from "./answering.js";
import { thrownAnswer, wireResult } from "./tool-answer.js";
import { TurnContext } from "./turn-context.js";

/**
 * @param {import("./answering.js").Question} question the kernel's `wrap`
 * @param {any} call frozen
 */
export function runWraps({ id, turn, ticket = null }, call) {
  const { host, tickets } = turn.run;
  const effect = expect(id, turn);
  const layers = turn.layersWith("wrapTool");
  const context = new TurnContext(turn, effect);
  /** @type {Set<ReturnType<import("./tickets.js").Tickets["issue"]>>} the `next()` calls that are not answered */
  const waiting = new Set();
  const over = () => new KeelError("TOOL_FAILED", `tool call '${call.callId}' of '${call.toolId}' already settled`);
  let isOver = false;
  const end = () => {
    isOver = true;
    tickets.abandon(waiting, over());
  };
  effect.onCancel = end;

  /**
   * @param {number} index
   * @param {any} current
   * @returns {Promise<any>}
   */
  async function dispatch(index, current) {
    if (index < layers.length) {
      return layers[index].wrapTool(context, current, (/** @type {any} */ changed) => {
        const promise = dispatch(index + 1, { ...current, ...changed });
        // A layer may drop what it called.
        promise.catch(() => {});
        return promise;
      });
    }
    const args = current.args === call.args ? "null" : (JSON.stringify(current.args) ?? "null");
    if (isOver) throw over();
    const ticket = tickets.issue(undefined, over);
    waiting.add(ticket);
    host.letter(effect, "next", `{"ticket":${ticket.number},"args":${args}}`);
    try {
      return await ticket.promise;
    } finally {
      waiting.delete(ticket);
    }
  }

  scopeOf(turn, ticket).runInAsyncScope(async () => {
    let text;
    try {
      const result = await dispatch(0, call);
      text = `{"result":${JSON.stringify(wireResult(call.toolId, result))}}`;
    } catch (error) {
      if (effect.isOpen && call.level > 0) turn.run.raised.keep(turn, id, rootCause(error));
      text = thrownAnswer(error);
    }
    end();
    host.answer(effect, text);
  });
}

/**
 * What a tool threw, when a layer passes on the rejection of its `next()`.
 *
 * @param {any} error
 */
function rootCause(error) {
  return KeelError.isInstance(error) && error.code === "TOOL_ERROR" && error.cause !== undefined ? error.cause : error;
}
