/** Who may use what: scopes come with the caller, grants with the agent, and a connection can only take away. */

import { asTool, createKeel, defineAgent, defineTool } from "keel-native";
import { scriptedModel, text, toolCall } from "keel-native/testing";

const readFiles = defineTool({
  id: "read-files",
  access: { scopes: ["files:read"] },
  input: { type: "object" },
  execute: (_input, { identity }) => `files of ${identity?.id}`,
});
const deleteFiles = defineTool({
  id: "delete-files",
  access: { scopes: ["files:write"] },
  input: { type: "object" },
  execute: () => "gone",
});

const clerkModel = scriptedModel([toolCall("delete-files"), toolCall("read-files"), text("I read them.")], {
  perTurn: true,
});
const clerk = defineAgent({
  id: "clerk",
  model: clerkModel,
  tools: [readFiles, deleteFiles],
  grants: ["files:read", "files:write"],
});
const boss = defineAgent({
  id: "boss",
  model: scriptedModel([toolCall("run-clerk", { brief: "Tidy up." }), text("Done.")]),
  // The caller may write; in this subtree nobody may.
  tools: [asTool(clerk, { narrow: { scopes: ["files:read"] } })],
});

const keel = createKeel();
const { turnId } = await keel.run(boss, "Tidy up.", {
  identity: { id: "ada", scopes: ["files:read", "files:write"] },
});

console.log("offered:", clerkModel.requests[0]?.tools.map(({ name }) => name).join(", "));
for (const event of await keel.records.events(turnId, { tree: true })) {
  if (event.type === "tool.refused") console.log("refused:", event.toolId, event.error.code);
  if (event.type === "tool.completed" && event.agentId === "clerk") console.log("ran:", event.toolId);
}

// A tool that its agent could never use is an error of the definition.
try {
  defineAgent({ id: "intern", model: scriptedModel([]), tools: [deleteFiles] });
} catch (error) {
  console.log("definition:", /** @type {import("keel-native").KeelError} */ (error).code);
}
