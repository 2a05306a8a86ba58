import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, definePart, run } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { note } from "../scenes/noting.js";
import { agentOf, anything, ofType, parentOf, toolOf } from "../scenes/small-agents.js";

describe("NT-25 ceilings of the whole tree", () => {
  const tree = (limits, rest = {}) => {
    const child = agentOf(() => toolCall("note"), { id: "child", tools: [note()] });
    const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], rest);
    return { child, parent, options: { limits: { tree: limits } } };
  };

  test("NT-25 steps: the next model call of any turn is refused", async () => {
    const { child, parent, options } = tree({ steps: 5 });
    const keel = createKeel();
    const { outcome, turnId } = await keel.run(parent, "go", options);
    assert.deepEqual([outcome.cause.code, outcome.cause.limit], ["TREE_LIMIT", 5]);
    assert.equal(child.model.requests.length + parent.model.requests.length, 5);
    assert.equal((await keel.records.get(`${turnId}.1`)).outcome.cause.code, "TREE_LIMIT");
    const reached = ofType(await keel.records.events(turnId, { tree: true }), "limit.reached");
    assert.deepEqual(
      reached.map(({ agentId, limit, max }) => [agentId, limit, max]),
      [
        ["child", "tree", 5],
        ["parent", "tree", 5],
      ],
    );
  });

  test("NT-25 tool calls: the next call of any turn is refused, and the turn that asked fails of the tree's limit", async () => {
    const { child, parent, options } = tree({ toolCalls: 4 });
    const keel = createKeel();
    const { outcome, turnId } = await keel.run(parent, "go", options);
    assert.equal(outcome.status, "completed");
    const record = await keel.records.get(`${turnId}.1`);
    assert.deepEqual(
      [
        record.outcome.cause.code,
        record.outcome.cause.limit,
        record.budget.used.toolCalls,
        child.model.requests.length,
      ],
      ["TREE_LIMIT", 4, 3, 4],
    );
  });

  test("NT-25 siblings in parallel never overspend", async () => {
    let entered = 0;
    const child = agentOf(() => [toolCall("work"), toolCall("work")], {
      id: "child",
      tools: [toolOf("work", async () => void (entered += 1))],
    });
    const calls = Array.from({ length: 5 }, () => toolCall("run-child", { brief: "x" }));
    const parent = parentOf(child, [calls, text("done")]);
    await run(parent, "go", { limits: { tree: { toolCalls: 12 } } });
    assert.equal(entered, 7);
  });

  test("NT-25 a connection may set a ceiling for its subtree, within the tree's", async () => {
    const { child, parent } = tree({}, { limits: { tree: { steps: 3 } } });
    assert.equal((await run(parent, "go", { limits: { tree: { steps: 100 } } })).outcome.status, "completed");
    assert.equal(child.model.requests.length, 3);
  });

  test("NT-25 nudges and retries count as steps of the tree", async () => {
    const report = definePart({ name: "report", schema: anything, persist: "content" });
    const child = agentOf(() => text("no"), { id: "child", emits: [report] });
    const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], {
      deliverable: { part: report, nudges: 9 },
      retries: 9,
    });
    await run(parent, "go", { limits: { tree: { steps: 8 } } });
    assert.equal(child.model.requests.length, 7);
  });
});
