/** The definitions that most tests of whole runs need, in few words, and what they look at afterwards. */

import { asTool, defineAgent, defineTool } from "../../js/index.js";
import { scriptedModel } from "../../js/testing/index.js";

export const anything = { type: "object" };

/** An agent that plays a script; a model in its place is taken as it is. */
export function agentOf(script, rest = {}) {
  const model = typeof script.generate === "function" ? script : scriptedModel(script);
  return defineAgent({ id: "agent", model, ...rest });
}

export function toolOf(id, execute = () => "ok", rest = {}) {
  return defineTool({ id, input: anything, access: "public", execute, ...rest });
}

/** An agent with one connection to `child`. */
export function parentOf(child, script, connection = {}, rest = {}) {
  return agentOf(script, { id: "parent", tools: [asTool(child, connection)], ...rest });
}

/** What a model reads of all tool results in a list of messages, in order. */
export function outputsIn(messages) {
  return messages.filter(({ role }) => role === "tool").flatMap(({ content }) => content.map(({ output }) => output));
}

/** The same, of the last request that a scripted model got. */
export function lastOutputs(agent) {
  return outputsIn(agent.model.requests.at(-1).messages);
}

export const ofType = (events, ...types) => events.filter(({ type }) => types.includes(type));

export async function collect(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}

/** A promise that the test settles. */
export function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** Each start has exactly one end, after it. */
export function unpaired(events) {
  const open = new Set();
  const faults = [];
  for (const { type, turnId, callId } of events) {
    const [subject, happened] = type.split(".");
    if (subject !== "turn" && subject !== "tool") continue;
    const key = `${subject} ${turnId} ${subject === "tool" ? callId : ""}`;
    if (happened === "started") {
      if (open.has(key)) faults.push(`${key} started twice`);
      open.add(key);
    } else if (["completed", "failed", "stopped"].includes(happened) && !open.delete(key)) {
      faults.push(`${key} ended without a start`);
    }
  }
  return [...faults, ...[...open].map((key) => `${key} never ended`)];
}
