import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, KeelError, run } from "../../js/index.js";
import { fail, hang, reply, text, toolCall } from "../../js/testing/index.js";
import {
  agentOf,
  deferred,
  lastOutputs,
  ofType,
  outputsIn,
  parentOf,
  toolOf,
  unpaired,
} from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

const failing = (message = "no model today") => fail(new Error(message));

describe("many children", () => {
  test("BL-058 five by five by five children all finish", async () => {
    const leaf = agentOf(() => text("leaf"), { id: "leaf" });
    const five = (id, tool, below) =>
      agentOf(
        ({ messages }) =>
          outputsIn(messages).length === 0 ? Array.from({ length: 5 }, () => toolCall(tool, { brief: "x" })) : text(id),
        { id, tools: [asTool(below)] },
      );
    const keel = createKeel();
    const root = five("root", "run-middle", five("middle", "run-low", five("low", "run-leaf", leaf)));
    const result = await keel.run(root, "go");
    const records = (await keel.records.list({ rootTurnId: result.turnId, limit: 1_000 })).items;
    assert.equal(records.filter(({ agentId }) => agentId === "leaf").length, 125);
    assert.ok(records.every(({ status }) => status === "completed"));
    assert.equal(result.record.treeUsage.totalTokens, 15 * (2 * (1 + 5 + 25) + 125));
  });

  test("BL-109 eight children with five calls each: as many events in parallel as one after the other", async () => {
    const kinds = {};
    for (const toolExecution of ["parallel", "sequential"]) {
      const child = agentOf(
        ({ messages }) =>
          outputsIn(messages).length === 0 ? Array.from({ length: 5 }, () => toolCall("note")) : text("done"),
        { id: "child", tools: [toolOf("note", () => Promise.resolve(1))] },
      );
      const keel = createKeel();
      const result = await keel.run(parentOf(child, [Array.from({ length: 8 }, () => call), text("done")]), "go", {
        limits: { toolExecution },
      });
      const events = await keel.records.events(result.turnId, { tree: true });
      assert.deepEqual(unpaired(events), []);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map(({ seq }) => seq).toSorted((a, b) => a - b),
      );
      assert.equal(new Set(events.map(({ seq }) => seq)).size, events.length);
      const notes = ofType(events, "tool.started", "tool.completed").filter(({ toolId }) => toolId === "note");
      assert.equal(notes.length, 80);
      kinds[toolExecution] = events.map(({ type, agentId }) => `${agentId} ${type}`).toSorted();
    }
    assert.deepEqual(kinds.parallel, kinds.sequential);
  });

  test("BL-111 a child's parent is known after refused calls, failed and stopped children too", async () => {
    const keel = createKeel();
    const child = agentOf(
      [
        text("1"),
        failing(),
        ({ messages: _ }, { turnId }) => (void keel.stop(turnId, { scope: "subtree" }), hang()),
        text("4"),
      ],
      { id: "child" },
    );
    const parent = parentOf(child, [
      call,
      toolCall("nobody"),
      call,
      call,
      toolCall("run-child", {}),
      call,
      text("done"),
    ]);
    const result = await keel.run(parent, "go");
    assert.equal(result.text, "done");
    const children = (await keel.records.tree(result.turnId)).children.map(({ record }) => record);
    assert.deepEqual(
      children.map(({ status }) => status),
      ["completed", "failed", "stopped", "completed"],
    );
    assert.deepEqual(
      children.map(({ turnId }) => turnId),
      [1, 2, 3, 4].map((n) => `${result.turnId}.${n}`),
    );
    assert.ok(
      children.every(({ parentTurnId, rootTurnId }) => parentTurnId === result.turnId && rootTurnId === result.turnId),
    );
  });

  test("BL-041 a tool that fails inside a child and a child that answers all the same are two facts", async () => {
    const child = agentOf([toolCall("broken"), text("worked around it")], {
      id: "child",
      tools: [
        toolOf("broken", () => {
          throw new Error("inner");
        }),
      ],
    });
    const keel = createKeel();
    const parent = parentOf(child, [call, text("done")]);
    const { turnId } = await keel.run(parent, "go");
    assert.deepEqual(lastOutputs(parent)[0].value, { ok: true, text: "worked around it", parts: [] });
    const events = await keel.records.events(`${turnId}.1`);
    assert.deepEqual(
      ofType(events, "tool.failed").map(({ toolId, error }) => [toolId, error.code]),
      [["broken", "TOOL_ERROR"]],
    );
  });

  test("BL-087 a child fails of its model while a sibling's tool runs: the tool's late end reaches nobody", async () => {
    const late = deferred();
    const slow = toolOf("slow", () => late.promise);
    const child = agentOf([({ messages: _ }) => failing("mid-air")], { id: "child" });
    const parent = agentOf([[toolCall("slow"), call]], {
      id: "parent",
      tools: [slow, asTool(child, { onError: "fail" })],
    });
    const keel = createKeel();
    const result = await keel.run(parent, "go");
    const before = JSON.stringify(await keel.records.events(result.turnId, { tree: true }));
    late.reject(new Error("after the end"));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(result.outcome.cause.code, "CHILD_FAILED");
    assert.equal(JSON.stringify(await keel.records.events(result.turnId, { tree: true })), before);
  });

  test("BL-114 NT-36 usage is per record, and the tree's is the sum, with failed attempts counted once", async () => {
    const spend = (n) => reply({ content: `${n}`, usage: { inputTokens: n, outputTokens: 0 } });
    const deep = agentOf([spend(40)], { id: "deep" });
    const middle = agentOf(
      [
        toolCall("run-deep", { brief: "x" }, { usage: { inputTokens: 20, outputTokens: 0 } }),
        reply({ content: "m", usage: { inputTokens: 0, outputTokens: 0 } }),
      ],
      { id: "middle", tools: [asTool(deep)] },
    );
    const root = agentOf(
      [
        toolCall("run-middle", { brief: "x" }, { usage: { inputTokens: 10, outputTokens: 0 } }),
        reply({ content: "r", usage: { inputTokens: 0, outputTokens: 0 } }),
      ],
      { id: "root", tools: [asTool(middle)] },
    );
    const keel = createKeel();
    const { turnId } = await keel.run(root, "go");
    const records = await Promise.all([turnId, `${turnId}.1`, `${turnId}.1.1`].map((id) => keel.records.get(id)));
    assert.deepEqual(
      records.map(({ usage, treeUsage }) => [usage.inputTokens, treeUsage.inputTokens]),
      [
        [10, 70],
        [20, 60],
        [40, 40],
      ],
    );
    const flaky = agentOf([toolCall("note", {}, { usage: { inputTokens: 5, outputTokens: 0 } }), failing(), spend(7)], {
      id: "child",
      tools: [toolOf("note")],
    });
    const free = { usage: { inputTokens: 0, outputTokens: 0 } };
    const retried = await keel.run(
      parentOf(flaky, [toolCall("run-child", { brief: "x" }, free), text("done", free)], { retries: 1 }),
      "go",
    );
    assert.deepEqual([retried.record.usage.inputTokens, retried.record.treeUsage.inputTokens], [0, 12]);
  });

  test("BL-115 a child that fails or is stopped midway keeps its usage so far", async () => {
    const keel = createKeel();
    const paid = toolCall("note", {}, { usage: { inputTokens: 5, outputTokens: 1 } });
    const failed = agentOf([paid, failing()], { id: "child", tools: [toolOf("note")] });
    const stopped = agentOf([paid, (_request, { turnId }) => (void keel.stop(turnId, { scope: "subtree" }), hang())], {
      id: "child",
      tools: [toolOf("note")],
    });
    for (const child of [failed, stopped]) {
      const { turnId } = await keel.run(parentOf(child, [call, text("done")]), "go");
      assert.equal((await keel.records.get(`${turnId}.1`)).usage.totalTokens, 6);
    }
  });

  test("KeelError.isInstance knows what a failed run throws", async () => {
    const result = await run(agentOf([failing()]), "go");
    assert.throws(
      () => result.orThrow(),
      (error) => KeelError.isInstance(error) && error instanceof Error && error.details.turnId === result.turnId,
    );
  });
});
