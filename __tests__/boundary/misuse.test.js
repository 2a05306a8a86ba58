import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, KeelError, run } from "../../js/index.js";
import { hang, text, toolCall } from "../../js/testing/index.js";
import { agentOf, toolOf } from "../scenes/small-agents.js";

describe("misuse", () => {
  const agent = agentOf(() => text("fine"));
  const cyclic = {};
  cyclic.self = cyclic;

  for (const [name, input, options, code] of [
    ["something that is no agent's input", 5, {}, "OPTION_INVALID"],
    ["an unknown option", "go", { maxSteps: 5 }, "OPTION_UNKNOWN"],
    ["a budget of 0 steps", "go", { budget: { steps: 0 } }, "BUDGET_INVALID"],
    ["money without a price", "go", { budget: { costUsd: 1 } }, "BUDGET_INVALID"],
    ["a tree's money without a price", "go", { limits: { tree: { costUsd: 1 } } }, "BUDGET_INVALID"],
    ["something that is no signal", "go", { signal: {} }, "OPTION_INVALID"],
    ["an identity without an id", "go", { identity: { scopes: [] } }, "OPTION_INVALID"],
    ["an ambient value that is no JSON", "go", { ambient: cyclic }, "OPTION_INVALID"],
    ["a message without a role", "go", { history: [{ content: "x" }] }, "OPTION_INVALID"],
    ["a message that is no JSON", "go", { history: [{ role: "user", content: [cyclic] }] }, "OPTION_INVALID"],
    ["an input that is no JSON", [{ type: "text", text: "x", big: 1n }], {}, "OPTION_INVALID"],
    ["a deliverable of some other agent", "go", { deliverable: { part: 1 } }, "OPTION_INVALID"],
  ]) {
    test(`NT-09 run() rejects and stream() throws for ${name}, and leaves no record`, async () => {
      const keel = createKeel();
      const isExpected = (error) =>
        KeelError.isInstance(error) && error.code === code && error.message.includes('"agent"');
      await assert.rejects(keel.run(agent, input, options), isExpected);
      assert.throws(() => keel.stream(agent, input, options), isExpected);
      assert.deepEqual((await keel.records.list()).items, []);
    });
  }

  test("NT-09 run() of something that is no agent rejects", async () => {
    await assert.rejects(run({ id: "x", model: {} }, "go"), { code: "OPTION_INVALID" });
  });

  test("NT-09 counts beyond 32 bits are as good as endless", async () => {
    const child = agentOf(() => text("fine"), { id: "child" });
    const parent = agentOf([[toolCall("run-child", { brief: "x" }), toolCall("note")], text("done")], {
      id: "parent",
      tools: [asTool(child, { retries: 2 ** 40 }), toolOf("note", undefined, { maxUses: 2 ** 40 })],
      budget: { steps: 2 ** 40, toolCalls: 2 ** 50 },
      limits: { maxDepth: 2 ** 40, maxModelRetries: 2 ** 40, toolResultBytes: Number.MAX_SAFE_INTEGER },
    });
    assert.equal((await run(parent, "go")).text, "done");
  });

  test("createKeel takes known options with possible values only", () => {
    for (const [options, code] of [
      [{ record: ":memory:" }, "OPTION_UNKNOWN"],
      [{ records: "file.db" }, "STORE_UNSUPPORTED"],
      [{ keep: { trees: -1 } }, "OPTION_INVALID"],
      [{ limits: { maxDepth: 1.5 } }, "LIMIT_INVALID"],
      [{ clock: { now: () => 0 } }, "OPTION_INVALID"],
      [{ capture: { redact: "all" } }, "OPTION_INVALID"],
      [{ price: 5 }, "OPTION_INVALID"],
    ]) {
      assert.throws(() => createKeel(options), { code });
    }
  });

  test('D-40 a closed keel takes no runs, and close stops the live ones with the reason "closed"', async () => {
    const keel = createKeel();
    const live = keel.run(agentOf([hang()]), "go");
    await keel.close();
    assert.deepEqual((await live).outcome, { status: "stopped", reason: "closed" });
    await assert.rejects(keel.run(agent, "go"), { code: "KEEL_CLOSED" });
    assert.throws(() => keel.stream(agent, "go"), { code: "KEEL_CLOSED" });
    assert.equal((await keel.records.list()).items.length, 1);
    await keel.close();
  });

  test("D-40 a keel is disposed of like any async resource", async () => {
    const keel = createKeel();
    await keel[Symbol.asyncDispose]();
    await assert.rejects(keel.run(agent, "go"), { code: "KEEL_CLOSED" });
  });
});
