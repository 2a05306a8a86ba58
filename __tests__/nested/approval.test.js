import assert from "node:assert/strict";
import { test } from "node:test";

import { asTool, createKeel, defineMiddleware, KeelError, memoryLedger, toolResult } from "../../js/index.js";
import { text, toolCall, virtualClock } from "../../js/testing/index.js";
import { callerOf, callsIn, leafOf, nestedRun, ONE_CALL, rejection, summaryOf } from "../scenes/nested-runs.js";
import { agentOf, ofType, toolOf } from "../scenes/small-agents.js";

const refusalOf = (name) => ({
  code: "TOOL_FAILED",
  message: `nested call '${name}' requires approval; nested calls cannot be deferred`,
});

const external = (id) => toolOf(id, undefined, { execute: undefined, external: true });

test("NC-04 a wrap layer that answers in the tool's place: its error result is an ordinary one, and the tool is not run", async () => {
  const { leaf, seen } = leafOf(() => "never", { id: "secret" });
  const wall = defineMiddleware({
    name: "wall",
    wrapTool: (_context, call, next) =>
      call.toolId === "secret" ? toolResult({ isError: true, text: "not for you" }) : next(),
  });
  let result;
  const caller = callerOf(async ({ callTool }) => {
    result = await callTool("secret", {});
  });
  const { events } = await nestedRun({ tools: [caller, leaf], middleware: [wall] });
  assert.deepEqual([result.isError, result.text], [true, "not for you"]);
  assert.deepEqual(seen, []);
  assert.equal(summaryOf(events)[0].status, "error");
});

for (const [number, kind, tool] of [
  ["05", "an approval-declaring tool", leafOf(() => "never", { approval: "required" })],
  ["06", "an external tool", { leaf: external("leaf"), seen: [] }],
]) {
  test(`NC-${number} BL-074 ${kind}: refused by name, not entered, nothing deferred, its place in the budget free again`, async () => {
    const { leaf: after, seen: ran } = leafOf(() => "ran", { id: "after" });
    const asked = [];
    const checked = [];
    const watch = defineMiddleware({
      name: "watch",
      checkNestedTool: (_context, { toolId }) => void checked.push(toolId),
    });
    let refused;
    const caller = callerOf(async ({ callTool }) => {
      refused = await rejection(callTool("leaf", {}));
      return (await callTool("after", {})).text;
    });
    const { events, result, outputs } = await nestedRun({
      tools: [caller, tool.leaf, after],
      agent: { budget: { toolCalls: 2 } },
      approve: ({ toolId }) => asked.push(toolId) && "allow",
      middleware: [watch],
    });
    assert.deepEqual(refused, refusalOf("leaf"));
    assert.deepEqual(tool.seen, []);
    assert.equal(ran.length, 1);
    assert.deepEqual(checked, ["after"]);
    assert.deepEqual(asked, []);
    assert.deepEqual(callsIn(events, "tool.refused"), ["p1/1"]);
    assert.deepEqual(ofType(events, "approval.requested", "turn.suspended"), []);
    assert.deepEqual(outputs, [{ type: "text", value: "ran" }]);
    assert.equal(result.outcome.status, "completed");
  });
}

test("BL-074 such refusals count: the ninth call of the caller is refused unseen", async () => {
  const { leaf } = leafOf(() => "never", { approval: "required" });
  const messages = [];
  const caller = callerOf(async ({ callTool }) => {
    for (let n = 0; n < 9; n += 1) messages.push((await rejection(callTool("leaf", {}))).message);
  });
  await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(messages.slice(0, 8), Array(8).fill(refusalOf("leaf").message));
  assert.match(messages[8], /already had 8 nested calls refused/);
});

test("NC-05 a tool that asks for approval as it runs: the same refusal, with a start and an end", async () => {
  const { leaf } = leafOf(() => {
    throw new KeelError("APPROVAL_REQUIRED", "ask somebody");
  });
  let refused;
  const caller = callerOf(async ({ callTool }) => {
    refused = await rejection(callTool("leaf", {}));
  });
  const ledger = memoryLedger();
  const { events, result } = await nestedRun({ tools: [caller, leaf], ledger });
  assert.deepEqual(refused, refusalOf("leaf"));
  assert.deepEqual(callsIn(events, "tool.started", "tool.failed"), ["p1", "p1/1", "p1/1"]);
  assert.equal(ledger.rows()[1].status, "failed");
  assert.equal(result.record.budget.used.nestedCalls, 1);
  assert.equal(result.outcome.status, "completed");
});

test("BL-075 an approval of the model's call covers that call alone; who is asked about it sees its own name and arguments", async () => {
  const { leaf, seen } = leafOf(() => "never", { approval: "required" });
  const asked = [];
  let refused;
  const caller = callerOf(
    async ({ callTool }) => {
      refused = await rejection(callTool("leaf", { amount: 2 }));
    },
    { approval: "required" },
  );
  const script = [toolCall("caller", { amount: 1 }, { id: "p1" }), text("done")];
  const approve = ({ toolId, callId, args }) => {
    asked.push([toolId, callId, args]);
    return "allow";
  };
  await nestedRun({ tools: [caller, leaf], script, approve });
  assert.deepEqual(asked, [["caller", "p1", { amount: 1 }]]);
  assert.deepEqual(refused, refusalOf("leaf"));
  assert.deepEqual(seen, []);
});

test("BL-075 hooks and the host's gate see the nested call itself, not the delegation around it", async () => {
  const { leaf } = leafOf();
  const views = [];
  const note =
    (who) =>
    ({ toolId, callId, parentCallId, args, level, isNested }) => {
      if (callId !== "p1") views.push([who, toolId, callId, parentCallId, args, level, isNested]);
    };
  const watch = defineMiddleware({ name: "watch", checkNestedTool: (_context, call) => note("check")(call) });
  const security = { authorizeTool: (request) => (note("gate")(request), true) };
  const caller = callerOf(({ callTool }) => callTool("leaf", { q: "inner" }));
  const script = [toolCall("caller", { q: "outer" }, { id: "p1" }), text("done")];
  await nestedRun({ tools: [caller, leaf], script, middleware: [watch], security });
  assert.deepEqual(views, [
    ["check", "leaf", "p1/1", "p1", { q: "inner" }, 1, undefined],
    ["gate", "leaf", "p1/1", "p1", { q: "inner" }, 1, true],
  ]);
});

for (const [way, hook, message] of [
  ["denies", () => ({ deny: "no" }), /^no$/],
  [
    "throws",
    () => {
      throw new Error("broken");
    },
    /^nested call 'leaf' refused: broken$/,
  ],
  ["rejects", () => Promise.reject(new Error("broken")), /^nested call 'leaf' refused: broken$/],
  ["answers nonsense", () => "yes", /^nested call 'leaf' refused: /],
  ["answers true", () => true, /^nested call 'leaf' refused: /],
  ["defers", () => "defer", /^nested call 'leaf' requires approval; nested calls cannot be deferred$/],
]) {
  test(`BL-076 a check that ${way} keeps the body from being entered`, async () => {
    const { leaf, seen } = leafOf();
    let refused;
    const caller = callerOf(async ({ callTool }) => {
      refused = await rejection(callTool("leaf", {}));
    });
    const { result } = await nestedRun({
      tools: [caller, leaf],
      middleware: [defineMiddleware({ name: "guard", checkNestedTool: hook })],
    });
    assert.equal(refused.code, "TOOL_FAILED");
    assert.match(refused.message, message);
    assert.deepEqual(seen, []);
    assert.equal(result.outcome.status, "completed");
  });
}

test("BL-076 a check that never answers refuses once its time is over, and one that answers undefined admits", async () => {
  const { leaf, seen } = leafOf();
  const hooks = [() => undefined, () => new Promise(() => {})];
  const guard = defineMiddleware({ name: "guard", checkNestedTool: () => hooks.shift()() });
  let refused;
  const caller = callerOf(async ({ callTool }) => {
    await callTool("leaf", { n: 1 });
    refused = await rejection(callTool("leaf", { n: 2 }));
  });
  const clock = virtualClock();
  const keel = createKeel({ clock, middleware: [guard], limits: { maxNestedDepth: 1, hookTimeoutMs: 100 } });
  const run = keel.run(agentOf(ONE_CALL, { tools: [caller, leaf] }), "go");
  await clock.advance(99);
  assert.equal(refused, undefined);
  await clock.advance(1);
  assert.equal(refused.code, "TOOL_FAILED");
  assert.match(refused.message, /^nested call 'leaf' refused: .*100 ms/);
  assert.deepEqual(seen, [{ n: 1 }]);
  assert.equal((await run).outcome.status, "completed");
});

test("BL-076 a host's gate that answers anything but an explicit yes refuses", async () => {
  const verdicts = [undefined, null, "allow", 1, {}, { allow: "yes" }, { prompted: false }, false];
  for (const verdict of verdicts) {
    const { leaf, seen } = leafOf();
    let refused;
    const caller = callerOf(async ({ callTool }) => {
      refused = await rejection(callTool("leaf", {}));
    });
    await nestedRun({
      tools: [caller, leaf],
      security: { authorizeTool: ({ toolId }) => (toolId === "leaf" ? verdict : true) },
    });
    assert.deepEqual(refused, {
      code: "TOOL_FAILED",
      message: "nested call 'leaf' denied: tool call was not approved",
    });
    assert.deepEqual(seen, []);
  }
});

test("BL-078 three layers: the innermost refusal goes to the innermost caller alone; the others see that caller's answer", async () => {
  const { leaf } = leafOf(() => "never", { approval: "required" });
  const answers = [];
  const inner = toolOf(
    "inner",
    async (_input, { callTool }) => `inner was told: ${(await rejection(callTool("leaf", {}))).message}`,
  );
  const child = agentOf([toolCall("inner", {}, { id: "c1" }), text("child done")], {
    id: "child",
    tools: [inner, leaf],
  });
  const caller = callerOf(async ({ callTool }) => {
    answers.push((await callTool("run-child", { brief: "x" })).value.text);
    return "outer";
  });
  const { outputs, result, events, keel } = await nestedRun({ tools: [caller, asTool(child)] });
  assert.deepEqual(answers, ["child done"]);
  assert.deepEqual(outputs, [{ type: "text", value: "outer" }]);
  assert.deepEqual(
    ofType(events, "tool.refused").map(({ turnId, callId }) => [turnId, callId]),
    [[`${result.turnId}.1`, "c1/1"]],
  );
  const [, , answered] = await keel.records.transcript(`${result.turnId}.1`);
  assert.equal(answered.content[0].output.value, `inner was told: ${refusalOf("leaf").message}`);
});

test("D-22 below a nested call nothing is deferred, in child turns neither", async () => {
  const { leaf: pay, seen } = leafOf(() => "paid", { id: "pay", approval: "required" });
  const child = agentOf([[toolCall("pay"), toolCall("ask")], text("child done")], {
    id: "child",
    tools: [pay, external("ask")],
  });
  const caller = callerOf(async ({ callTool }) => (await callTool("run-child", { brief: "x" })).value.text);
  const asked = [];
  const { events, keel, result } = await nestedRun({
    tools: [caller, asTool(child)],
    approve: ({ toolId }) => asked.push(toolId) && "allow",
  });
  assert.equal(result.outcome.status, "completed");
  const [, , answered] = await keel.records.transcript(`${result.turnId}.1`);
  for (const { output } of answered.content) assert.match(output.value, /requires approval/);
  assert.deepEqual([seen, asked], [[], []]);
  assert.deepEqual(ofType(events, "turn.suspended", "approval.requested"), []);
});
