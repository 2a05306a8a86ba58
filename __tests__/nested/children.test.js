import assert from "node:assert/strict";
import { test } from "node:test";

import { asTool, createKeel, definePart, KeelError } from "../../js/index.js";
import { hang, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { callerOf, nestedRun, ONE_CALL, rejection, summaryOf } from "../scenes/nested-runs.js";
import { agentOf, ofType, toolOf, unpaired } from "../scenes/small-agents.js";

const delegating = (tool) => callerOf(async ({ callTool }) => (await callTool(tool, { brief: "x" })).value);

test("three levels that mix nested calls and child turns: each child hangs on the turn and the nested call that opened it", async () => {
  const grandchild = agentOf([text("deep")], { id: "grandchild" });
  const middle = toolOf("middle", (_input, { callTool }) => callTool("caller", {}).then(({ value }) => value));
  const child = agentOf([toolCall("middle", {}, { id: "c1" }), text("child done")], {
    id: "child",
    tools: [middle, delegating("run-grandchild"), asTool(grandchild)],
  });
  const { events, keel, result, outputs } = await nestedRun({ tools: [delegating("run-child"), asTool(child)] });
  const { turnId } = result;
  const opened = ofType(events, "turn.started").map((event) => [
    event.agentId,
    event.turnId,
    event.parentTurnId,
    event.callId,
  ]);
  assert.deepEqual(opened, [
    ["agent", turnId, undefined, undefined],
    ["child", `${turnId}.1`, turnId, "p1/1"],
    ["grandchild", `${turnId}.1.1`, `${turnId}.1`, "c1/1/1"],
  ]);
  const { record, children } = await keel.records.tree(turnId);
  assert.equal(record.callId, undefined);
  assert.deepEqual([children[0].record.parentTurnId, children[0].record.callId], [turnId, "p1/1"]);
  assert.deepEqual(
    [children[0].children[0].record.parentTurnId, children[0].children[0].record.callId],
    [`${turnId}.1`, "c1/1/1"],
  );
  assert.deepEqual(unpaired(events), []);
  assert.equal(outputs[0].value.text, "child done");
  assert.deepEqual(
    summaryOf(events).map(({ id, name, status }) => [id, name, status]),
    [["p1/1", "run-child", "ok"]],
  );
});

test("a nested child with a contract answers the tool with its deliverable", async () => {
  const answer = definePart({
    name: "answer",
    schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    persist: "content",
  });
  const child = agentOf([toolCall("submit_answer", { n: 7 })], { id: "child", emits: [answer] });
  const { outputs } = await nestedRun({ tools: [delegating("run-child"), asTool(child, { deliverable: answer })] });
  assert.deepEqual(outputs[0].value, { ok: true, deliverable: { n: 7 } });
});

test("BL-008 a nested child that runs out of steps: an error result with the cause, never a cancellation, and the caller goes on", async () => {
  const child = agentOf([toolCall("work"), text("never")], {
    id: "child",
    tools: [toolOf("work")],
    budget: { steps: 1 },
  });
  let result;
  const caller = callerOf(async ({ callTool }) => {
    result = await callTool("run-child", { brief: "x" });
    return "went on";
  });
  const run = await nestedRun({ tools: [caller, asTool(child)] });
  assert.equal(result.isError, true);
  const { cause } = result.value;
  assert.deepEqual([cause.code, cause.turnId], ["BUDGET_STEPS", `${run.result.turnId}.1`]);
  assert.match(cause.message, /1/);
  assert.deepEqual(run.outputs, [{ type: "text", value: "went on" }]);
  assert.equal(summaryOf(run.events)[0].status, "error");
  assert.equal(run.result.outcome.status, "completed");
});

test("a nested child of a connection with onError fail ends the turn that owns the calling tool", async () => {
  const child = agentOf([toolCall("work"), text("never")], {
    id: "child",
    tools: [toolOf("work")],
    budget: { steps: 1 },
  });
  const { events, result } = await nestedRun({ tools: [delegating("run-child"), asTool(child, { onError: "fail" })] });
  assert.equal(result.outcome.status, "failed");
  assert.equal(result.outcome.cause.code, "CHILD_FAILED");
  assert.equal(result.outcome.cause.cause.code, "BUDGET_STEPS");
  assert.deepEqual(unpaired(events), []);
});

test("brief() that throws is an exception of that nested call, with the object as its cause", async () => {
  const thrown = new Error("no brief");
  const child = agentOf([text("never")], { id: "child" });
  const connection = {
    brief: () => {
      throw thrown;
    },
  };
  let caught;
  const caller = callerOf(async ({ callTool }) => {
    caught = await callTool("run-child", { brief: "x" }).catch((error) => error);
  });
  const { result, events } = await nestedRun({ tools: [caller, asTool(child, connection)] });
  assert.ok(KeelError.isInstance(caught));
  assert.deepEqual([caught.code, caught.message], ["TOOL_ERROR", "tool dispatch failed"]);
  assert.equal(result.outcome.status, "completed");
  assert.equal(ofType(events, "turn.started").length, 1);
});

for (const [own, after, ceiling] of [
  [50, 50, "own"],
  [500, 100, "caller"],
  [undefined, 100, "caller"],
]) {
  test(`a nested child's time is at most its caller's: ${own ?? "no time of its own"} under 100 ms ends after ${after} ms, ceiling ${ceiling}`, async () => {
    const clock = virtualClock();
    const child = agentOf([hang()], { id: "child", ...(own && { budget: { timeMs: own } }) });
    const agent = agentOf([...ONE_CALL], { tools: [delegating("run-child"), asTool(child)], budget: { timeMs: 100 } });
    const keel = createKeel({ clock, limits: { maxNestedDepth: 1 } });
    const run = keel.run(agent, "go");
    await clock.advance(after - 1);
    const [{ turnId }] = (await keel.records.list({ agentId: "child" })).items;
    assert.equal((await keel.records.get(turnId)).status, "running");
    await clock.advance(1);
    const { status, outcome, budget } = await keel.records.get(turnId);
    assert.deepEqual([status, outcome.cause.code, budget.ceiling], ["failed", "BUDGET_TIME", ceiling]);
    if (ceiling === "caller") assert.equal((await run).outcome.cause.code, "BUDGET_TIME");
    else assert.equal((await run).outcome.status, "completed");
  });
}

test("a nested child's time is at most what its calling tool's timeout leaves", async () => {
  const clock = virtualClock();
  const child = agentOf([hang()], { id: "child", budget: { timeMs: 1_000 } });
  const caller = callerOf(({ callTool }) => callTool("run-child", { brief: "x" }), { timeoutMs: 30 });
  const keel = createKeel({ clock, limits: { maxNestedDepth: 1 } });
  const run = keel.run(agentOf(ONE_CALL, { tools: [caller, asTool(child)] }), "go");
  await clock.advance(30);
  const { outcome, turnId } = await run;
  assert.equal(outcome.status, "completed");
  const record = await keel.records.get(`${turnId}.1`);
  assert.notEqual(record.status, "running");
  const events = await keel.records.events(turnId, { tree: true });
  assert.deepEqual(unpaired(events), []);
  const ended = events.findIndex(
    ({ type, turnId: id }) => type.startsWith("turn.") && type !== "turn.started" && id === `${turnId}.1`,
  );
  const answered = events.findIndex(({ type, callId }) => type === "tool.completed" && callId === "p1");
  assert.ok(ended >= 0 && ended < answered);
});

test("stopping the tree reaches a child that a nested call opened", async () => {
  const signals = [];
  const stuck = toolOf("stuck", (_input, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const child = agentOf([toolCall("stuck"), text("never")], { id: "child", tools: [stuck] });
  const controller = new AbortController();
  const keel = createKeel({ limits: { maxNestedDepth: 1 } });
  const agent = agentOf(ONE_CALL, { tools: [delegating("run-child"), asTool(child)] });
  const run = keel.run(agent, "go", { signal: controller.signal });
  while (signals.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const reason = { why: "enough" };
  controller.abort(reason);
  const { outcome, turnId } = await run;
  assert.equal(outcome.reason, reason);
  assert.equal((await keel.records.get(`${turnId}.1`)).status, "stopped");
  assert.equal(signals[0].aborted, true);
  assert.equal(signals[0].reason, reason);
  assert.deepEqual(unpaired(await keel.records.events(turnId, { tree: true })), []);
});

test("a nested delegation abandoned by its own signal stops the child as its caller's affair, and the turn goes on", async () => {
  const child = agentOf([hang()], { id: "child" });
  let refused;
  const caller = callerOf(async ({ callTool }) => {
    const controller = new AbortController();
    const call = callTool("run-child", { brief: "x" }, { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    refused = await rejection(call);
    return "went on";
  });
  const { result, keel, events } = await nestedRun({ tools: [caller, asTool(child)] });
  assert.equal(refused.code, "TOOL_FAILED");
  assert.match(refused.message, /^parent settled: /);
  assert.equal(result.outcome.status, "completed");
  const record = await keel.records.get(`${result.turnId}.1`);
  assert.deepEqual([record.status, record.outcome.cause?.code], ["failed", "PARENT_ENDED"]);
  assert.deepEqual(unpaired(events), []);
});

test("a nested child's model calls, tokens and tool calls are its own; the tree's usage has them all", async () => {
  const child = agentOf([toolCall("work"), text("done")], { id: "child", tools: [toolOf("work")] });
  const { result, keel } = await nestedRun({ tools: [delegating("run-child"), asTool(child)] });
  const { used } = result.record.budget;
  assert.deepEqual([used.steps, used.toolCalls, used.nestedCalls], [2, 1, 1]);
  const inner = (await keel.records.get(`${result.turnId}.1`)).budget.used;
  assert.deepEqual([inner.steps, inner.toolCalls, inner.nestedCalls], [2, 1, 0]);
  assert.equal(result.record.usage.totalTokens, 30);
  assert.equal(result.record.treeUsage.totalTokens, 60);
});
