import assert from "node:assert/strict";
import { test } from "node:test";

import { toolError } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { callerOf, callsIn, leafOf, nestedRun } from "../scenes/nested-runs.js";
import { ofType, toolOf, unpaired } from "../scenes/small-agents.js";

const told = (events) =>
  ofType(events, "tool.started", "tool.completed", "tool.failed", "tool.refused").map(
    ({ type, callId, parentCallId }) => [type.slice("tool.".length), callId, parentCallId].filter(Boolean).join(" "),
  );

test("NC-13 two nested calls: starts and ends in order, each with its caller", async () => {
  const { leaf } = leafOf();
  const caller = callerOf(async ({ callTool }) => {
    await callTool("leaf", {});
    await callTool("leaf", {});
  });
  const { events } = await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(told(events), [
    "started p1",
    "started p1/1 p1",
    "completed p1/1 p1",
    "started p1/2 p1",
    "completed p1/2 p1",
    "completed p1",
  ]);
  const seqs = events.map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  );
});

test("NC-14 a nested call of a nested call names its immediate caller", async () => {
  const { leaf } = leafOf();
  const middle = toolOf("middle", (_input, { callTool }) => callTool("leaf", {}));
  const caller = callerOf(({ callTool }) => callTool("middle", {}));
  const { events } = await nestedRun({ tools: [caller, middle, leaf] });
  assert.deepEqual(told(events), [
    "started p1",
    "started p1/1 p1",
    "started p1/1/1 p1/1",
    "completed p1/1/1 p1/1",
    "completed p1/1 p1",
    "completed p1",
  ]);
});

test("NC-15 the events of a model's call have no parentCallId key", async () => {
  const { leaf } = leafOf();
  const { events } = await nestedRun({ tools: [callerOf(({ callTool }) => callTool("leaf", {})), leaf] });
  for (const event of ofType(events, "tool.started", "tool.completed")) {
    assert.equal(Object.hasOwn(event, "parentCallId"), event.callId !== "p1");
    assert.equal(Object.hasOwn(event, "error"), false);
    assert.equal(Object.hasOwn(event, "input"), false);
  }
});

test("NC-16 nested calls leave nothing in the transcript, and are counted apart", async () => {
  const { leaf } = leafOf();
  const caller = callerOf(async ({ callTool }) => {
    await Promise.all([callTool("leaf", {}), callTool("leaf", {}), callTool("ghost", {}).catch(() => {})]);
    return "answer";
  });
  const { agent, events, outputs, result } = await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(outputs, [{ type: "text", value: "answer" }]);
  assert.deepEqual(
    result.record.transcript.map(({ role }) => role),
    ["user", "assistant", "tool", "assistant"],
  );
  assert.equal(JSON.stringify(agent.model.requests).includes("p1/1"), false);
  assert.equal(ofType(events, "step.completed")[0].toolCalls, 1);
  const { toolCalls, nestedCalls } = result.record.budget.used;
  assert.deepEqual({ toolCalls, nestedCalls }, { toolCalls: 1, nestedCalls: 2 });
});

test("BL-061 the same tool asked for twice at once, by the model and by a tool: all calls run, with ids and order kept", async () => {
  const { leaf, seen } = leafOf(({ q }) => `found ${q}`);
  const caller = callerOf(async ({ callTool }) => {
    const results = await Promise.all([callTool("leaf", { q: "X" }), callTool("leaf", { q: "Y" })]);
    return results.map((result) => result.text).join(", ");
  });
  const step = [
    toolCall("leaf", { q: "A" }, { id: "a" }),
    toolCall("caller", {}, { id: "p1" }),
    toolCall("leaf", { q: "B" }, { id: "b" }),
  ];
  const { events, outputs } = await nestedRun({ tools: [caller, leaf], script: [step, text("done")] });
  assert.deepEqual(seen.map(({ q }) => q).toSorted(), ["A", "B", "X", "Y"]);
  assert.deepEqual(
    outputs.map(({ value }) => value),
    ["found A", "found X, found Y", "found B"],
  );
  assert.deepEqual(callsIn(events, "tool.started").toSorted(), ["a", "b", "p1", "p1/1", "p1/2"]);
});

test("D-13 a refused call has no start: one unpaired tool.refused with its code and text", async () => {
  const { leaf } = leafOf();
  const caller = callerOf(async ({ callTool }) => {
    await callTool("ghost", {}).catch(() => {});
    await callTool("leaf", [1]).catch(() => {});
    await callTool("leaf", {});
  });
  const { events } = await nestedRun({ tools: [caller, leaf] });
  const refused = ofType(events, "tool.refused");
  assert.deepEqual(told(events), [
    "started p1",
    "refused p1/1 p1",
    "refused p1/2 p1",
    "started p1/3 p1",
    "completed p1/3 p1",
    "completed p1",
  ]);
  assert.deepEqual(refused[0].error, { code: "TOOL_NOT_FOUND", message: "tool not found: ghost" });
  assert.equal(refused[0].toolId, "ghost");
  assert.equal(refused[1].error.code, "TOOL_FAILED");
  assert.match(refused[1].error.message, /^invalid arguments for nested call 'leaf': /);
});

test("D-13 every start of a nested call has one end: ok, reported failure, exception, refusal, abandoned", async () => {
  const { leaf } = leafOf(({ way }) => {
    if (way === "reports") throw toolError("no luck");
    if (way === "throws") throw new Error("secret");
    return way === "hangs" ? new Promise(() => {}) : "ok";
  });
  const caller = callerOf(async ({ callTool }) => {
    const calls = ["ok", "reports", "throws"].map((way) => callTool("leaf", { way }));
    callTool("leaf", { way: "hangs" });
    await Promise.allSettled(calls);
  });
  const { events, result } = await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(unpaired(events), []);
  const ends = Object.fromEntries(
    ofType(events, "tool.completed", "tool.failed").map((event) => [event.callId, event]),
  );
  assert.equal(ends["p1/1"].isError, false);
  assert.deepEqual([ends["p1/2"].isError, ends["p1/2"].error], [true, "no luck"]);
  assert.deepEqual(ends["p1/3"].error, { code: "TOOL_ERROR", message: "tool dispatch failed" });
  assert.match(ends["p1/4"].error.message, /^parent settled: /);
  assert.ok(ends["p1/4"].seq < ends.p1.seq);
  assert.equal(result.outcome.status, "completed");
});
