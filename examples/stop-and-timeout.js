/** Three ways in which a turn ends early: a signal, stop() and a deadline. None of them is an exception. */

import { asTool, createKeel, defineAgent, defineTool } from "keel-native";
import { hang, scriptedModel, text, toolCall } from "keel-native/testing";

const keel = createKeel();

// 1. A signal stops the whole tree, also while a tool ignores it.
const controller = new AbortController();
const waiting = defineTool({
  id: "wait",
  access: "public",
  input: { type: "object" },
  execute() {
    controller.abort("the user closed the window");
    return new Promise(() => {});
  },
});
const patient = defineAgent({ id: "patient", model: scriptedModel([toolCall("wait")]), tools: [waiting] });
const aborted = await keel.run(patient, "Wait.", { signal: controller.signal });
console.log("signal:", JSON.stringify(aborted.outcome));

// 2. A child that runs out of its own time is feedback: its caller still has time.
const slow = defineAgent({ id: "slow", model: scriptedModel([hang()]) });
const caller = defineAgent({
  id: "caller",
  model: scriptedModel([toolCall("run-slow", { brief: "Take your time." }), text("It took too long.")]),
  tools: [asTool(slow, { budget: { timeMs: 50 } })],
});
const late = await keel.run(caller, "Ask the slow one.");
const child = await keel.records.get(`${late.turnId}.1`);
console.log("deadline:", late.outcome.status, "-", late.text);
console.log("its child:", child?.outcome?.status === "failed" && child.outcome.cause.message);

// 3. stop() by id, with a reason of your own; scope "subtree" would stop one child only.
const stuck = defineAgent({ id: "stuck", model: scriptedModel([hang()]) });
const stream = keel.stream(stuck, "Hang.");
for await (const event of stream.inspect()) if (event.type === "step.started") break;
await keel.stop(stream.turnId, { reason: { by: "operator" } });
console.log("stop:", JSON.stringify((await stream.result).outcome));

await keel.close();
