import assert from "node:assert/strict";
import { test } from "node:test";

import { asTool, createKeel } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { callerOf, callsIn, leafOf, nestedRun, rejection } from "../scenes/nested-runs.js";
import { agentOf, ofType, toolOf, unpaired } from "../scenes/small-agents.js";

/** A tool that calls `leaf` so many times, one after the other, and notes how each call ended. */
function callerOfMany(count, ended) {
  return callerOf(async ({ callTool }) => {
    for (let n = 0; n < count; n += 1) {
      const one = await callTool("leaf", { n }).then(
        (result) => result.text,
        (error) => ({ code: error.code, message: error.message }),
      );
      ended.push(one);
    }
    return "went on";
  });
}

const SPENT = { code: "LIMIT_EXCEEDED", message: "max tool calls (3) exceeded by a nested tool call" };

for (const behavior of ["error", "stopWithPartial"]) {
  test(`NC-${behavior === "error" ? "07" : "08"} cap 3 and behavior ${behavior}: the third nested call is an error for its caller, and only for it`, async () => {
    const { leaf, seen } = leafOf();
    const ended = [];
    const { events, result } = await nestedRun({
      tools: [callerOfMany(4, ended), leaf],
      agent: { budget: { toolCalls: 3 } },
      limits: { behavior },
    });
    assert.deepEqual(ended, ["leaf-out", "leaf-out", SPENT, SPENT]);
    assert.equal(seen.length, 2);
    assert.deepEqual(
      ofType(events, "limit.reached").map(({ limit, max }) => [limit, max]),
      [["toolCalls", 3]],
    );
    assert.deepEqual(callsIn(events, "tool.refused"), ["p1/3", "p1/4"]);
    assert.equal(result.outcome.status, "completed");
    assert.equal(result.text, "done");
  });
}

test("NC-07 a cap that is just met refuses nothing", async () => {
  const { leaf } = leafOf();
  const ended = [];
  const { events } = await nestedRun({ tools: [callerOfMany(2, ended), leaf], agent: { budget: { toolCalls: 3 } } });
  assert.deepEqual(ended, ["leaf-out", "leaf-out"]);
  assert.deepEqual(ofType(events, "limit.reached", "tool.refused"), []);
});

for (const [cap, status] of [
  [2, "failed"],
  [3, "completed"],
]) {
  test(`NC-09 cap ${cap}: a nested call counts against the next call of the model, which ends ${status}`, async () => {
    const { leaf, seen } = leafOf();
    const script = [toolCall("caller", {}, { id: "p1" }), toolCall("leaf", {}, { id: "p2" }), text("done")];
    const { result } = await nestedRun({
      tools: [callerOfMany(1, []), leaf],
      script,
      agent: { budget: { toolCalls: cap } },
    });
    assert.equal(result.outcome.status, status);
    assert.equal(result.outcome.cause?.code, status === "failed" ? "BUDGET_TOOL_CALLS" : undefined);
    assert.equal(seen.length, cap - 1);
  });
}

test("NC-10 two parallel callers with two nested calls each, cap 5: exactly three nested calls run", async () => {
  const { leaf, seen } = leafOf();
  const ended = [];
  const caller = callerOf(async ({ callTool }) => {
    const calls = [callTool("leaf", {}), callTool("leaf", {})];
    for (const { status, reason } of await Promise.allSettled(calls)) ended.push(reason?.code ?? status);
  });
  const script = [[toolCall("caller", {}, { id: "p1" }), toolCall("caller", {}, { id: "p2" })], text("done")];
  const { events, result } = await nestedRun({ tools: [caller, leaf], script, agent: { budget: { toolCalls: 5 } } });
  assert.equal(seen.length, 3);
  assert.deepEqual(ended.toSorted(), ["LIMIT_EXCEEDED", "fulfilled", "fulfilled", "fulfilled"]);
  assert.equal(ofType(events, "tool.started").filter(({ parentCallId }) => parentCallId).length, 3);
  assert.deepEqual(result.record.budget.used.toolCalls, 2);
  assert.deepEqual(result.record.budget.used.nestedCalls, 3);
});

test("BL-002 100 rounds of three parallel nested calls: model-issued and nested calls are counted apart, and exactly", async () => {
  const { leaf, seen } = leafOf(() => new Promise((resolve) => setImmediate(resolve)));
  const caller = callerOf(async ({ callTool }) => {
    for (let round = 0; round < 100; round += 1) await Promise.all([1, 2, 3].map(() => callTool("leaf", {})));
  });
  const { events, result } = await nestedRun({ tools: [caller, leaf], agent: { budget: { toolCalls: 1_000 } } });
  const { toolCalls, nestedCalls } = result.record.budget.used;
  assert.deepEqual({ toolCalls, nestedCalls, ran: seen.length }, { toolCalls: 1, nestedCalls: 300, ran: 300 });
  assert.equal(callsIn(events, "tool.started").length, 301);
  assert.deepEqual(unpaired(events), []);
});

test("BL-002 ctx.budget shows what nested calls have left", async () => {
  const { leaf } = leafOf((_input, { budget }) => budget.toolCallsLeft);
  const left = [];
  const caller = callerOf(async (context) => {
    left.push(context.budget.toolCallsLeft);
    left.push((await context.callTool("leaf", {})).value);
    await context.callTool("ghost", {}).catch(() => {});
    left.push(context.budget.toolCallsLeft);
  });
  await nestedRun({ tools: [caller, leaf], agent: { budget: { toolCalls: 5 } } });
  assert.deepEqual(left, [4, 3, 3]);
});

test("BL-010 a child's tool-call cap holds in every way of running it, nested-of-nested too, with one event", async () => {
  const execute = [];
  const childOf = () => {
    const leaf = toolOf("work", () => void execute.push("ran"));
    const step = [1, 2, 3, 4].map((n) => toolCall("work", { n }));
    return agentOf([step, text("done")], { id: "child", tools: [leaf], budget: { toolCalls: 2 } });
  };
  const run = async (way) => {
    execute.length = 0;
    const keel = createKeel({ limits: { maxNestedDepth: 3 } });
    const { turnId } = await way(keel);
    const events = await keel.records.events(turnId, { tree: true });
    const reached = ofType(events, "limit.reached").map(({ agentId, limit, max }) => [agentId, limit, max]);
    return { ran: execute.length, reached };
  };
  const delegate = toolCall("run-child", { brief: "x" });
  const expected = { ran: 2, reached: [["child", "toolCalls", 2]] };

  const foreground = (keel) =>
    keel.run(agentOf([delegate, text("done")], { id: "root", tools: [asTool(childOf())] }), "go");
  const nested = (keel) => {
    const inner = toolOf("inner", (_input, { callTool }) => callTool("run-child", { brief: "x" }));
    const outer = toolOf("outer", (_input, { callTool }) => callTool("inner", {}));
    return keel.run(
      agentOf([toolCall("outer"), text("done")], { id: "root", tools: [outer, inner, asTool(childOf())] }),
      "go",
    );
  };
  const streamed = (keel) =>
    keel.stream(agentOf([delegate, text("done")], { id: "root", tools: [asTool(childOf())] }), "go").result;
  const besideSiblings = (keel) => {
    const step = [toolCall("other"), delegate, toolCall("other")];
    return keel.run(agentOf([step, text("done")], { id: "root", tools: [toolOf("other"), asTool(childOf())] }), "go");
  };
  for (const way of [foreground, nested, streamed, besideSiblings])
    assert.deepEqual(await run(way), expected, way.name);
});

test("BL-085 an unknown name is told once per call; from the ninth on, calls are refused unseen", async () => {
  const refused = [];
  const checked = [];
  const { leaf, seen } = leafOf();
  const caller = callerOf(async ({ callTool }) => {
    for (let n = 0; n < 10; n += 1) refused.push(await rejection(callTool("ghost", {})));
    refused.push(await rejection(callTool("leaf", {})));
  });
  const security = { authorizeTool: ({ toolId }) => checked.push(toolId) > 0 };
  const { events, result } = await nestedRun({ tools: [caller, leaf], security });
  const notFound = { code: "TOOL_NOT_FOUND", message: "tool not found: ghost" };
  assert.deepEqual(
    refused.slice(0, 8),
    Array.from({ length: 8 }, () => notFound),
  );
  for (const { code, message } of refused.slice(8)) {
    assert.equal(code, "TOOL_FAILED");
    assert.match(message, /'p1' already had 8 nested calls refused/);
  }
  assert.match(refused[10].message, /'leaf'/);
  assert.deepEqual(seen, []);
  assert.deepEqual(checked, ["caller"]);
  assert.equal(callsIn(events, "tool.refused").length, 11);
  assert.equal(result.record.budget.used.nestedCalls, 0);
});
