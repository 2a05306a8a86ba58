import assert from "node:assert/strict";
import { test } from "node:test";

import { asTool, createKeel, defineAgent, defineMiddleware, defineTool, memoryLedger } from "../../js/index.js";
import { scriptedModel, text, toolCall, virtualClock } from "../../js/testing/index.js";

const hang = () => new Promise(() => {});
const lookOf = (options = {}) =>
  defineTool({ id: "look", access: "public", input: { type: "object" }, execute: () => "seen", ...options });
const agentOf = (tools, script) => defineAgent({ id: "agent", tools, model: scriptedModel(script) });
const answerOf = ({ record }) => record.transcript.find(({ role }) => role === "tool").content[0].output.value;

test("D-05 D-22 a child below a wrap layer that waits for a human suspends its caller, and goes on", async () => {
  const pay = lookOf({ id: "pay", approval: "required", execute: () => "paid" });
  const child = defineAgent({ id: "child", tools: [pay], model: scriptedModel([toolCall("pay"), text("child done")]) });
  const keel = createKeel({
    middleware: [defineMiddleware({ name: "layer", wrapTool: (_context, _call, next) => next() })],
  });
  const agent = agentOf([asTool(child)], [toolCall("run-child", { brief: "x" }), text("done")]);
  const { turnId, outcome } = await keel.run(agent, "go");
  assert.deepEqual([outcome.status, outcome.pending.length], ["suspended", 1]);
  const resumed = await keel.resume(turnId, { approvals: { [outcome.pending[0].id]: "allow" } });
  assert.deepEqual([resumed.outcome.status, resumed.text], ["completed", "done"]);
});

for (const [what, keel, tool, expected] of [
  [
    "injected()",
    { injected: hang },
    { injects: [{ name: "key", from: "host" }] },
    /^failed to prepare injected arguments/,
  ],
  ["a ledger", { ledger: { ...memoryLedger(), started: hang } }, {}, /^the effect ledger failed: .*30000 ms/],
]) {
  test(`D-16 ${what} that hangs refuses the call after hookTimeoutMs`, async () => {
    const clock = virtualClock();
    const running = createKeel({ clock, ...keel }).run(agentOf([lookOf(tool)], [toolCall("look"), text("done")]), "go");
    await clock.advance(29_999);
    await clock.advance(1);
    const result = await running;
    assert.equal(result.outcome.status, "completed");
    assert.match(answerOf(result), expected);
  });
}

test("D-17 what stands on a prototype does not open the gate", async () => {
  // oxlint-disable-next-line no-extend-native
  Object.defineProperty(Object.prototype, "allow", { value: true, configurable: true });
  try {
    for (const verdict of [false, {}, undefined]) {
      const keel = createKeel({ security: { authorizeTool: () => verdict } });
      const result = await keel.run(agentOf([lookOf()], [toolCall("look"), text("done")]), "go");
      assert.match(answerOf(result), /^call 'look' denied/);
    }
  } finally {
    delete Object.prototype.allow;
  }
});

test("D-25 half a character in a progress message harms nobody", async () => {
  const tool = lookOf({ execute: (_input, { progress }) => progress({ message: "\ud83d" }) });
  const keel = createKeel();
  const { turnId, outcome } = await keel.run(agentOf([tool], [toolCall("look"), text("done")]), "go");
  assert.equal(outcome.status, "completed");
  const told = (await keel.records.events(turnId)).find(({ type }) => type === "tool.progress");
  assert.equal(told.message, "\ufffd");
});

test("D-25 history and input nested deeper than 128 levels are misuse, told at once", async () => {
  const nested = (depth) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  const deep = [{ role: "assistant", content: [{ type: "text", text: "x", providerOptions: { a: nested(130) } }] }];
  const keel = createKeel();
  await assert.rejects(keel.run(agentOf([], [text("x")]), "go", { history: deep }), { code: "VALUE_TOO_DEEP" });
  const part = [{ type: "text", text: "x", providerOptions: { a: nested(20_000) } }];
  await assert.rejects(keel.run(agentOf([], [text("x")]), part), { code: "VALUE_TOO_DEEP" });
});

test("odd results of middleware fail their call, not the turn", async () => {
  for (const hooks of [{ afterTool: () => ({ text: 5 }) }, { wrapTool: () => ({ text: 5 }) }]) {
    const keel = createKeel({ middleware: [defineMiddleware({ name: "odd", ...hooks })] });
    const result = await keel.run(agentOf([lookOf()], [toolCall("look"), text("done")]), "go");
    assert.equal(result.outcome.status, "completed");
    assert.match(answerOf(result), /expected a text, found 5/);
  }
});
