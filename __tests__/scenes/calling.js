/** One turn whose model issues one call, `p1`, to a tool that calls others: what most tests of nested calls look at. */

import assert from "node:assert/strict";

import { createKeel } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { agentOf, lastOutputs, toolOf } from "./small-agents.js";

export const issue = (toolId = "caller", args = {}, id = "p1") => toolCall(toolId, args, { id });

/** A tool that tells how often it ran, and with what. */
export function leafOf(id = "leaf", execute = () => `${id}-out`, rest = {}) {
  const runs = [];
  const tool = toolOf(id, (input, context) => (runs.push(input), execute(input, context)), {
    concurrency: "shared",
    ...rest,
  });
  return { tool, runs };
}

/**
 * Runs an agent whose tool `caller` has this body, next to `tools`, on a keel that lets calls nest three deep.
 *
 * @returns what the body returned, the run's result, its events, and what the model read of the call
 */
export async function calling(body, tools = [], given = {}) {
  let returned;
  const execute = async (_input, context) => {
    returned = await body(context);
    return "called";
  };
  const caller = toolOf("caller", execute, given.caller);
  const agent = agentOf(given.script ?? [issue(), text("done")], { tools: [caller, ...tools], ...given.agent });
  const keel = createKeel({ ...given.keel, limits: { maxNestedDepth: 3, ...given.keel?.limits } });
  const running = keel.run(agent, "go", given.run);
  await given.meanwhile?.(keel);
  const result = await running;
  const events = await keel.records.events(result.turnId, { tree: true });
  const outputs = agent.model.requests.length > 1 ? lastOutputs(agent) : [];
  return { returned, result, events, keel, agent, outputs };
}

/** The error that a promise is rejected with. */
export function failed(promise) {
  return promise.then(
    (value) => assert.fail(`expected a rejection, found ${JSON.stringify(value)}`),
    (error) => error,
  );
}

/** The code and text of such an error. */
export async function refusal(promise) {
  const { code, message } = await failed(promise);
  return [code, message];
}

/** Events as short lines: their type without its first word, and the call. */
export function callLines(events) {
  return events.filter(({ type }) => type.startsWith("tool.")).map(({ type, callId }) => `${type.slice(5)} ${callId}`);
}

/** The summary of nested calls that the call `p1` ended with. */
export function summaryOf(events, callId = "p1") {
  return events.find((event) => event.type === "tool.completed" && event.callId === callId)?.metadata?.nested_calls;
}

/** How many of these overlap at most: `enter()` before, `leave()` after. */
export function overlap() {
  let live = 0;
  let peak = 0;
  return {
    enter: () => (peak = Math.max(peak, (live += 1))),
    leave: () => (live -= 1),
    get peak() {
      return peak;
    },
  };
}
