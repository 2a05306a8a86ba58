/** What a child owes, and what its caller gets when it does not deliver. */

import { asTool, defineAgent, definePart, run } from "keel-native";
import { scriptedModel, text, toolCall } from "keel-native/testing";
import { z } from "zod";

const findingsPart = definePart({
  name: "findings",
  persist: "content",
  schema: z.object({ claims: z.array(z.string()).min(1), confidence: z.number().min(0).max(1) }),
});

/** @param {import("keel-native/testing").ScriptStep[]} script */
function callerOf(script) {
  const researcher = defineAgent({ id: "researcher", model: scriptedModel(script), emits: [findingsPart] });
  const research = asTool(researcher, {
    budget: { steps: 4, timeMs: 15_000 },
    deliverable: findingsPart, // plain form: one nudge round
    onError: "feedback",
  });
  // The second step repeats what the tool answered, so that it can be seen.
  const model = scriptedModel([
    toolCall("run-researcher", { brief: "Is it raining?" }),
    ({ messages }) => text(JSON.stringify(/** @type {any} */ (messages.at(-1)).content[0].output.value)),
  ]);
  return defineAgent({ id: "assistant", model, tools: [research] });
}

// The first submit is not valid, the second is.
const kept = await run(
  callerOf([
    toolCall("submit_findings", { claims: [], confidence: 7 }),
    toolCall("submit_findings", { claims: ["it is raining"], confidence: 0.9 }),
  ]),
  "Is it raining?",
);
console.log("kept:", kept.text);

// It answers in prose, is nudged, and answers in prose again. The caller completes: the failure is its feedback.
const broken = await run(callerOf([text("It is raining."), text("I said that it is raining.")]), "Is it raining?");
console.log("broken:", broken.outcome.status, broken.text);

// A contract may stand on the root turn too; orThrow() gives the typed deliverable, or throws the cause.
const reporter = defineAgent({
  id: "reporter",
  model: scriptedModel([toolCall("submit_findings", { claims: ["it stopped"], confidence: 1 })]),
  emits: [findingsPart],
});
const { deliverable } = (await run(reporter, "And now?", { deliverable: findingsPart })).orThrow();
console.log("root:", deliverable.claims[0]);
