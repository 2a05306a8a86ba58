/** Turns whose one model-issued call, `p1` of the tool `caller`, calls other tools; and what a test looks at afterwards. */

import { createKeel } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { agentOf, ofType, outputsIn, toolOf } from "./small-agents.js";

export const ONE_CALL = [toolCall("caller", {}, { id: "p1" }), text("done")];

/** A tool whose body is given its context first. */
export function callerOf(body, rest = {}) {
  return toolOf("caller", (input, context) => body(context, input), rest);
}

/** A tool that others call; it keeps the arguments that it got in `seen`. */
export function leafOf(execute = () => "leaf-out", rest = {}) {
  const seen = [];
  const leaf = toolOf(
    rest.id ?? "leaf",
    (input, context) => {
      seen.push(input);
      return execute(input, context);
    },
    { concurrency: "shared", ...rest },
  );
  return { leaf, seen };
}

/**
 * One turn, nested calls on unless `limits` says otherwise.
 *
 * @param {any} given the agent's `tools` (and `script`, `agent` for its other options), the keel's options, those of the run
 */
export async function nestedRun({ tools, script = ONE_CALL, agent: rest, limits, run, ...options }) {
  const agent = agentOf(script, { tools, ...rest });
  const keel = createKeel({ limits: { maxNestedDepth: 3, ...limits }, ...options });
  const result = await keel.run(agent, "go", run);
  const events = await keel.records.events(result.turnId, { tree: true });
  return { agent, keel, result, events, outputs: outputsIn(result.record.transcript) };
}

/** How a rejection looks to the tool that called; a call that is not rejected fails the test. */
export async function rejection(promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return { code: error.code, message: error.message };
  }
  throw new Error(`expected a rejection, found ${JSON.stringify(value)}`);
}

/** The calls of some kind of event, in order. */
export const callsIn = (events, ...types) => ofType(events, ...types).map(({ callId }) => callId);

/** The metadata that the call `p1` ended with. */
export const metadataOf = (events, callId = "p1") =>
  ofType(events, "tool.completed").find((event) => event.callId === callId)?.metadata;

export const summaryOf = (events, callId) => metadataOf(events, callId)?.nested_calls;
