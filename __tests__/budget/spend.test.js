import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, run } from "../../js/index.js";
import { reply, text, toolCall } from "../../js/testing/index.js";
import { note } from "../scenes/noting.js";
import { agentOf, ofType, parentOf } from "../scenes/small-agents.js";

describe("tokens and money", () => {
  const usage = { inputTokens: 60, outputTokens: 40 };
  const spender = (rest) =>
    agentOf(() => reply({ content: [{ type: "tool-call", toolName: "note", input: {} }], usage }), {
      tools: [note()],
      ...rest,
    });

  test("D-6 tokens are checked before each model call: the last call may overshoot, no further one is made", async () => {
    for (const [tokens, calls] of [
      [100, 1],
      [101, 2],
      [200, 2],
      [201, 3],
    ]) {
      const agent = spender();
      const keel = createKeel();
      const { outcome, turnId } = await keel.run(agent, "go", { budget: { tokens } });
      assert.deepEqual(
        [outcome.cause.code, outcome.cause.limit, agent.model.requests.length],
        ["BUDGET_TOKENS", tokens, calls],
      );
      assert.deepEqual(
        ofType(await keel.records.events(turnId), "limit.reached").map(({ limit, max }) => [limit, max]),
        [["tokens", tokens]],
      );
    }
  });

  test("D-6 money is what price() says of each model call", async () => {
    const priced = [];
    const keel = createKeel({ price: (used, modelId) => (priced.push([used.totalTokens, modelId]), 0.6) });
    const agent = spender();
    const { outcome, usage: used } = await keel.run(agent, "go", { budget: { costUsd: 1 } });
    assert.deepEqual([outcome.cause.code, agent.model.requests.length, used.costUsd], ["BUDGET_COST", 2, 1.2]);
    assert.deepEqual(priced, [
      [100, "scripted"],
      [100, "scripted"],
    ]);
  });

  test("D-6 a child's or a connection's money needs a price too", async () => {
    const child = agentOf([text("x")], { id: "child" });
    for (const parent of [
      parentOf(child, [], { budget: { costUsd: 1 } }),
      parentOf(agentOf([], { id: "child", budget: { costUsd: 1 } }), []),
      parentOf(child, [], { limits: { tree: { costUsd: 1 } } }),
    ]) {
      await assert.rejects(run(parent, "go"), { code: "BUDGET_INVALID" });
    }
  });

  test("BL-016 NT-25 what children spend counts towards the tree's ceiling: the next model call is never sent", async () => {
    const keel = createKeel({ price: ({ totalTokens }) => totalTokens / 100 });
    const child = agentOf(() => reply({ content: "x", usage: { inputTokens: 30, outputTokens: 30 } }), { id: "child" });
    const free = { inputTokens: 0, outputTokens: 0 };
    const parent = parentOf(
      child,
      [
        toolCall("run-child", { brief: "1" }, { usage: free }),
        toolCall("run-child", { brief: "2" }, { usage: free }),
        text("never"),
      ],
      {},
      { limits: { tree: { costUsd: 1 } } },
    );
    const result = await keel.run(parent, "go");
    assert.equal(result.outcome.cause.code, "TREE_LIMIT");
    assert.deepEqual([child.model.requests.length, parent.model.requests.length], [2, 2]);
    assert.deepEqual([result.record.usage.costUsd, result.record.treeUsage.costUsd], [0, 1.2]);
  });
});
