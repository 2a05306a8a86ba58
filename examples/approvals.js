/**
 * Calls that a human decides: asked at once (`approve`), left pending until somebody has decided (`"defer"`, then
 * `resume`), or carried out by the host itself (`external`).
 */

import { createKeel, defineAgent, defineTool } from "keel-native";
import { scriptedModel, text, toolCall } from "keel-native/testing";

const refund = defineTool({
  id: "refund",
  access: "public",
  approval: "required",
  input: { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] },
  execute: ({ euros }) => `refunded ${euros} euros`,
});
const inspect = defineTool({
  id: "inspect-parcel",
  access: "public",
  external: true,
  input: { type: "object" },
});

const model = scriptedModel([
  [toolCall("refund", { euros: 5 }), toolCall("refund", { euros: 500 }), toolCall("refund", { euros: 5000 })],
  toolCall("inspect-parcel"),
  text("Done."),
]);
const support = defineAgent({ id: "support", model, tools: [refund, inspect] });

const keel = createKeel({
  approve({ args }) {
    const { euros } = /** @type {{ euros: number }} */ (args);
    if (euros > 1000) return { deny: "never that much" };
    return euros > 100 ? "defer" : "allow";
  },
});

// The first refund runs, the third is refused, the second waits: for whoever reads the queue of a real application.
let result = await keel.run(support, "Refund them all.");
if (result.outcome.status !== "suspended") throw new Error("expected it to wait");
const [asked] = result.outcome.pending;
console.log("suspended:", asked?.kind, asked?.toolId, JSON.stringify(asked?.args));

result = await keel.resume(result.turnId, { approvals: { [asked?.id ?? ""]: "allow" } });
if (result.outcome.status !== "suspended") throw new Error("expected it to wait");
const [external] = result.outcome.pending;
console.log("suspended:", external?.kind, external?.toolId);

result = await keel.resume(result.turnId, { approvals: { [external?.id ?? ""]: { result: { damaged: false } } } });
console.log(result.outcome.status, "-", result.text);

for (const { role, content } of result.record.transcript) {
  if (role !== "tool") continue;
  for (const { toolName, output } of content) console.log(`${toolName}: ${JSON.stringify(output.value)}`);
}
