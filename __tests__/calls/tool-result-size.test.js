import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, definePart, run } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { agentOf, lastOutputs, parentOf, toolOf } from "../scenes/small-agents.js";

describe("limits of a tool's result", () => {
  const big = "é".repeat(6_500_000);

  test("BL-125 D-39 limits.toolResultBytes cuts what the model sees, at a character, with a mark", async () => {
    for (const level of ["root", "child"]) {
      const agent = agentOf([toolCall("dump"), text("done")], { id: "reader", tools: [toolOf("dump", () => big)] });
      const root = level === "root" ? agent : parentOf(agent, [toolCall("run-reader", { brief: "x" }), text("done")]);
      await createKeel({ limits: { toolResultBytes: 16_385 } }).run(root, "go");
      const [{ type, value }] = lastOutputs(agent);
      assert.equal(type, "text");
      assert.equal(value, `${"é".repeat(8_192)}\n[truncated: the first 16384 of 13000000 bytes]`);
    }
  });

  test("D-39 a result of exactly that size is whole", async () => {
    const agent = agentOf([toolCall("dump"), text("done")], { tools: [toolOf("dump", () => "x".repeat(100))] });
    await run(agent, "go", { limits: { toolResultBytes: 100 } });
    assert.equal(lastOutputs(agent)[0].value, "x".repeat(100));
  });

  test("BL-126 seven large child results are each capped, and whole in their records", async () => {
    const report = "r".repeat(40_960);
    const child = agentOf(() => text(report), { id: "child" });
    const parent = parentOf(child, [
      Array.from({ length: 7 }, () => toolCall("run-child", { brief: "x" })),
      text("done"),
    ]);
    const keel = createKeel();
    const result = await keel.run(parent, "go", { limits: { toolResultBytes: 1_000 } });
    assert.equal(result.text, "done");
    const outputs = lastOutputs(parent);
    assert.equal(outputs.length, 7);
    for (const { value } of outputs)
      assert.match(value, /^\{"ok":true,"text":"r+\n\[truncated: the first 1000 of \d+ bytes\]$/);
    const { children } = await keel.records.tree(result.turnId);
    for (const { record } of children) assert.equal(record.transcript.at(-1).content[0].text, report);
  });

  test("BL-051 a deliverable of 200 KB arrives whole under a cap of 16 KB", async () => {
    const report = definePart({
      name: "report",
      schema: { type: "object", properties: { body: { type: "string" } }, required: ["body"] },
      persist: "content",
    });
    const body = "b".repeat(200_000);
    const child = agentOf([toolCall("submit_report", { body })], { id: "child", emits: [report] });
    const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], { deliverable: report });
    await run(parent, "go", { limits: { toolResultBytes: 16_384 } });
    assert.deepEqual(lastOutputs(parent), [{ type: "json", value: { ok: true, deliverable: { body } } }]);
  });
});
