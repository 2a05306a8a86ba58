import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, defineAgent, defineTool, toolResult, createKeel, run } from "../../js/index.js";
import { scriptedModel, text, toolCall } from "../../js/testing/index.js";

/** A tool that asks something of its turn. */
const asking = (control, isError = false) =>
  defineTool({
    id: "ask",
    access: "public",
    input: { type: "object" },
    execute: () => toolResult({ text: "from the tool", isError, control }),
  });

const agentWith = (tools, script) => defineAgent({ id: "agent", tools, model: scriptedModel(script) });

describe("toolResult({ control })", () => {
  test("returnDirect makes the result's text the answer, without another step", async () => {
    const agent = agentWith([asking({ returnDirect: true })], [[text("let me see"), toolCall("ask")], text("never")]);
    const { outcome, text: answer, record } = await run(agent, "go");
    assert.deepEqual([outcome.status, answer, record.budget.used.steps], ["completed", "from the tool", 1]);
    assert.equal(record.transcript.at(-1).role, "tool");
  });

  for (const control of [{ terminate: true }, { goto: "end" }]) {
    test(`${JSON.stringify(control)} ends the turn with what the model said last`, async () => {
      const agent = agentWith([asking(control)], [[text("let me see"), toolCall("ask")], text("never")]);
      const { outcome, text: answer, record } = await run(agent, "go");
      assert.deepEqual([outcome.status, answer, record.budget.used.steps], ["completed", "let me see", 1]);
    });
  }

  for (const control of [{}, { goto: "model" }, { goto: "tools" }, { returnDirect: false, terminate: false }]) {
    test(`${JSON.stringify(control)} goes back to the model`, async () => {
      const { text: answer } = await run(agentWith([asking(control)], [toolCall("ask"), text("done")]), "go");
      assert.equal(answer, "done");
    });
  }

  test("an error goes back to the model, whatever the tool asks", async () => {
    const agent = agentWith([asking({ terminate: true }, true)], [toolCall("ask"), text("done")]);
    assert.equal((await run(agent, "go")).text, "done");
  });

  test("the other calls of the step settle first", async () => {
    const ran = [];
    const other = defineTool({
      id: "other",
      access: "public",
      input: { type: "object" },
      execute: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        ran.push("other");
      },
    });
    const agent = agentWith(
      [asking({ terminate: true }), other],
      [[toolCall("ask"), toolCall("other")], text("never")],
    );
    const { record } = await run(agent, "go");
    assert.deepEqual([ran, record.budget.used], [["other"], { ...record.budget.used, steps: 1, toolCalls: 2 }]);
  });

  test("NC-72 a nested result's control and a child's are nobody else's: the turn goes on", async () => {
    const nested = defineTool({
      id: "nested",
      access: "public",
      input: { type: "object" },
      execute: async (_input, { callTool }) => (await callTool("ask", {})).text,
    });
    const child = defineAgent({
      id: "child",
      tools: [asking({ returnDirect: true })],
      model: scriptedModel([toolCall("ask")]),
    });
    const agent = agentWith(
      [nested, asking({ terminate: true }), asTool(child)],
      [[toolCall("nested"), toolCall("run-child", { brief: "x" })], text("done")],
    );
    const { text: answer } = await createKeel({ limits: { maxNestedDepth: 1 } }).run(agent, "go");
    assert.equal(answer, "done");
  });
});
