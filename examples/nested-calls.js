/**
 * One rule for a tool, whoever calls it: the model, a tool, a tool's tool, or the agent of a child turn. A middleware that
 * guards the model's calls has to guard nested ones too; one that forgets is an error before anything runs.
 */

import { asTool, createKeel, defineAgent, defineMiddleware, defineTool } from "keel-native";
import { scriptedModel, text, toolCall } from "keel-native/testing";

/** @import { HookCall } from "keel-native" */

let sent = 0;
const sendMoney = defineTool({
  id: "send-money",
  access: "public",
  input: { type: "object" },
  execute: () => {
    sent += 1;
    return "sent";
  },
});

// A tool that needs another one calls it through its context: past the same gates, within the same budget.
const pay = defineTool({
  id: "pay",
  access: "public",
  input: { type: "object" },
  execute: async (_input, { callTool }) => (await callTool("send-money", { euros: 100 })).value,
});
const settle = defineTool({
  id: "settle",
  access: "public",
  input: { type: "object" },
  // This result reports failure: the refusal that `pay` let through is its answer.
  execute: async (_input, { callTool }) => (await callTool(pay, {})).text,
});

const clerk = defineAgent({
  id: "clerk",
  model: scriptedModel([toolCall("send-money"), toolCall("pay"), text("I may not.")]),
  tools: [sendMoney, pay],
});
const treasurer = defineAgent({
  id: "treasurer",
  model: scriptedModel([
    toolCall("send-money"),
    toolCall("pay"),
    toolCall("settle"),
    toolCall("run-clerk", { brief: "Send the money." }),
    text("Nobody may."),
  ]),
  tools: [sendMoney, pay, settle, asTool(clerk)],
});

/** @param {unknown} _context @param {HookCall} call */
const forbidMoney = (_context, { toolId }) =>
  toolId === "send-money" ? { deny: "money is not sent on a Sunday" } : undefined;
const half = defineMiddleware({ name: "sunday", beforeTool: forbidMoney });
const whole = defineMiddleware({ name: "sunday", beforeTool: forbidMoney, checkNestedTool: forbidMoney });

try {
  createKeel({ limits: { maxNestedDepth: 3 }, middleware: [half] });
} catch (error) {
  console.log("half a guard:", /** @type {import("keel-native").KeelError} */ (error).code);
}

const keel = createKeel({ limits: { maxNestedDepth: 3 }, middleware: [whole] });
const { turnId, outcome, record } = await keel.run(treasurer, "Send the money.");

for (const event of await keel.records.events(turnId, { tree: true })) {
  if (event.type !== "tool.refused") continue;
  const path = event.parentCallId === undefined ? "the model" : `call ${event.parentCallId}`;
  console.log(`${event.agentId}, by ${path}: ${event.toolId} refused, ${event.error.message}`);
}
const { steps, toolCalls, nestedCalls } = record.budget.used;
console.log(`${outcome.status} after ${steps} steps; ${toolCalls} calls, ${nestedCalls} nested; sent ${sent} times`);
