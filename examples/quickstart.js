/** The quickstart of the README: an assistant asks a researcher, which owes it findings. */

import { asTool, createKeel, defineAgent, definePart, defineTool } from "keel-native";
import { scriptedModel, text, toolCall } from "keel-native/testing";
import { z } from "zod";

const findings = definePart({
  name: "findings",
  persist: "content",
  schema: z.object({ answer: z.string(), sources: z.array(z.string()).min(1) }),
});

const search = defineTool({
  id: "search",
  description: "Searches the handbook.",
  access: "public",
  input: z.object({ query: z.string() }),
  execute: ({ query }) => [{ source: "handbook, page 12", text: `${query}: 30 days` }],
});

const researcher = defineAgent({
  id: "researcher",
  description: "Looks things up. Give it one question.",
  model: scriptedModel([
    toolCall("search", { query: "return period" }),
    toolCall("submit_findings", { answer: "30 days", sources: ["handbook, page 12"] }),
  ]),
  instructions: "Search, then submit your findings.",
  tools: [search],
  emits: [findings],
});

const assistant = defineAgent({
  id: "assistant",
  model: scriptedModel([
    toolCall("run-researcher", { brief: "How long can customers return things?" }),
    text("Customers can return things for 30 days (handbook, page 12)."),
  ]),
  instructions: "Have questions researched, then answer.",
  tools: [asTool(researcher, { budget: { steps: 4, timeMs: 15_000 }, deliverable: findings })],
});

const keel = createKeel();
const result = await keel.run(assistant, "How long can I return things?");

console.log(result.outcome.status, "-", result.text);
for (const { agentId, turnId, budget, outcome } of (await keel.records.list()).items) {
  console.log(agentId, turnId, outcome?.status, `${budget.used.steps} of ${budget.granted.steps} steps`);
}
