import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, defineMiddleware, defineTool, KeelError, memoryLedger } from "../../js/index.js";
import { scriptedModel, text, virtualClock } from "../../js/testing/index.js";
import { failed, issue, leafOf } from "../scenes/calling.js";
import { agentOf, anything, collect, lastOutputs, ofType, toolOf, unpaired } from "../scenes/small-agents.js";

const payOf = (rest) => leafOf("pay", ({ amount }) => `paid ${amount}`, { approval: "required", ...rest });
const ext = defineTool({ id: "ext", access: "public", external: true, input: anything });

/** A run that waits for a human about one call, unless the step says otherwise. */
async function waiting({
  step = issue("pay", { amount: 3 }),
  tools = [],
  keel: options,
  run,
  rest = [text("done")],
} = {}) {
  const pay = payOf();
  const agent = agentOf([step, ...rest], { tools: [pay.tool, ext, ...tools] });
  const keel = createKeel(options);
  const result = await keel.run(agent, "go", run);
  assert.equal(result.outcome.status, "suspended");
  const { turnId } = result;
  const pending = Object.fromEntries(result.outcome.pending.map((one) => [one.callId, one]));
  const resume = (byCall, more) =>
    keel.resume(turnId, {
      approvals: Object.fromEntries(Object.entries(byCall).map(([callId, verdict]) => [pending[callId].id, verdict])),
      ...more,
    });
  return { pay, agent, keel, result, turnId, pending, resume };
}

describe("a suspended run", () => {
  test("D-1 suspended is no outcome of the record: nothing terminal is written until it ends", async () => {
    const { keel, result, turnId, resume } = await waiting();
    const before = await keel.records.get(turnId);
    assert.deepEqual([before.status, before.outcome, before.endedAt], ["suspended", undefined, undefined]);
    assert.equal(result.record.status, "suspended");
    assert.equal(ofType(await keel.records.events(turnId), "turn.completed", "turn.failed", "turn.stopped").length, 0);
    const after = await resume({ p1: "allow" });
    assert.deepEqual(
      [after.outcome, after.record.status, after.turnId],
      [{ status: "completed" }, "completed", turnId],
    );
    const events = await keel.records.events(turnId);
    assert.deepEqual(
      ofType(events, "turn.started", "turn.suspended", "turn.resumed", "turn.completed").map(({ type }) => type),
      ["turn.started", "turn.suspended", "turn.resumed", "turn.completed"],
    );
    assert.deepEqual(unpaired(events), []);
  });

  test("D-1 orThrow() of it says that a human is waited for", async () => {
    const { result } = await waiting();
    assert.throws(
      () => result.orThrow(),
      (error) => KeelError.isInstance(error) && error.code === "APPROVAL_REQUIRED",
    );
  });

  test("D-31 BL-077 allow: exactly that call runs, once, and no step before it again", async () => {
    const ledger = memoryLedger();
    const leaf = leafOf();
    const pay = payOf();
    const agent = agentOf([issue("leaf", {}, "first"), issue("pay", { amount: 3 }), text("done")], {
      tools: [leaf.tool, pay.tool],
    });
    const keel = createKeel({ ledger });
    const { turnId, outcome } = await keel.run(agent, "go");
    const result = await keel.resume(turnId, { approvals: { [outcome.pending[0].id]: "allow" } });
    assert.deepEqual(
      [result.outcome.status, pay.runs, leaf.runs.length, agent.model.requests.length],
      ["completed", [{ amount: 3 }], 1, 3],
    );
    assert.deepEqual(
      ledger.rows().map(({ callId, status }) => [callId, status]),
      [
        ["first", "completed"],
        ["p1", "completed"],
      ],
    );
    assert.equal(lastOutputs(agent).at(-1).value, "paid 3");
  });

  test("D-31 deny answers the call with the reason", async () => {
    const { pay, agent, resume } = await waiting();
    const result = await resume({ p1: { deny: "not now" } });
    assert.deepEqual(
      [result.outcome.status, pay.runs.length, lastOutputs(agent)],
      ["completed", 0, [{ type: "error-text", value: "call 'pay' denied: not now" }]],
    );
  });

  test("D-31 an external call gets the result that a human brings, or a denial", async () => {
    for (const [verdict, output] of [
      [{ result: { ok: 1 } }, { type: "json", value: { ok: 1 } }],
      [{ result: "text" }, { type: "text", value: "text" }],
      [{ result: undefined }, { type: "json", value: null }],
      [{ deny: "no" }, { type: "error-text", value: "call 'ext' denied: no" }],
    ]) {
      const { agent, resume, pending, keel, turnId } = await waiting({ step: issue("ext", { q: 1 }) });
      assert.deepEqual([pending.p1.kind, pending.p1.args], ["external", { q: 1 }]);
      assert.equal((await resume({ p1: verdict })).outcome.status, "completed");
      assert.deepEqual(lastOutputs(agent), [output]);
      assert.deepEqual(unpaired(await keel.records.events(turnId)), []);
    }
  });

  test("D-31 one of several decisions leaves the rest pending; the other calls' results are kept", async () => {
    const step = [issue("pay", { amount: 1 }, "a"), issue("ext", {}, "b"), issue("pay", { amount: 2 }, "c")];
    const { pay, agent, keel, turnId, pending, resume } = await waiting({ step });
    const second = await resume({ c: "allow" });
    assert.deepEqual(
      [second.outcome.status, second.outcome.pending.map(({ callId }) => callId)],
      ["suspended", ["a", "b"]],
    );
    assert.deepEqual([pay.runs, agent.model.requests.length], [[{ amount: 2 }], 1]);
    const third = await resume({ b: { result: 5 } });
    assert.deepEqual(
      third.outcome.pending.map(({ id }) => id),
      [pending.a.id],
    );
    const last = await resume({ a: "allow" });
    assert.equal(last.outcome.status, "completed");
    assert.deepEqual(
      lastOutputs(agent).map(({ value }) => value),
      ["paid 1", 5, "paid 2"],
    );
    assert.deepEqual(ofType(await keel.records.events(turnId), "turn.suspended", "turn.resumed").length, 6);
  });

  test("D-31 a resume without decisions leaves it suspended, with the same pending", async () => {
    const { keel, turnId, result } = await waiting();
    const again = await keel.resume(turnId);
    assert.deepEqual(again.outcome, result.outcome);
    assert.equal((await keel.resume(turnId, { approvals: {} })).outcome.status, "suspended");
  });

  test("D-31 what runs after a resume may suspend again", async () => {
    const { resume, keel, turnId, pay } = await waiting({ rest: [issue("pay", { amount: 4 }, "p2"), text("done")] });
    const second = await resume({ p1: "allow" });
    assert.deepEqual([second.outcome.status, second.outcome.pending[0].callId], ["suspended", "p2"]);
    const { outcome } = await keel.resume(turnId, { approvals: { [second.outcome.pending[0].id]: "allow" } });
    assert.deepEqual([outcome.status, pay.runs], ["completed", [{ amount: 3 }, { amount: 4 }]]);
  });

  test("D-22 D-28 wrap layers are entered on resume, hooks are not asked again, and ambient may be given anew", async () => {
    const told = [];
    const layer = defineMiddleware({
      name: "layer",
      beforeTool: () => void told.push("before"),
      checkNestedTool: () => {},
      wrapTool: ({ ambient }, _call, next) => (told.push(`wrap ${ambient.day}`), next()),
    });
    const { resume } = await waiting({ keel: { middleware: [layer] }, run: { ambient: { day: 1 } } });
    assert.deepEqual(told, ["before"]);
    assert.equal((await resume({ p1: "allow" }, { ambient: { day: 2 } })).outcome.status, "completed");
    assert.deepEqual(told, ["before", "wrap 2"]);
  });

  test("D-40 resumeStream tells what happens from there on", async () => {
    const { keel, turnId, pending } = await waiting();
    const stream = keel.resumeStream(turnId, { approvals: { [pending.p1.id]: "allow" } });
    const events = await collect(stream);
    assert.deepEqual(
      events.map(({ type }) => type).filter((type) => !type.startsWith("text.")),
      ["turn.resumed", "tool.started", "tool.completed", "step.started", "step.completed", "turn.completed"],
    );
    assert.equal((await stream.result).outcome.status, "completed");
    assert.equal(stream.turnId, turnId);
  });
});

describe("misuse of resume()", () => {
  const code = async (promise) => (await failed(promise)).code;

  test("D-31 an id that is not pending is refused by name, and nothing is decided", async () => {
    const { keel, turnId, pending, pay, resume } = await waiting();
    const error = await failed(keel.resume(turnId, { approvals: { [pending.p1.id]: "allow", nobody: "allow" } }));
    assert.equal(error.code, "OPTION_INVALID");
    assert.match(error.message, /nobody/);
    assert.deepEqual([pay.runs.length, (await keel.records.get(turnId)).status], [0, "suspended"]);
    assert.equal((await resume({ p1: "allow" })).outcome.status, "completed");
  });

  test("D-31 an answer that fits no call of its kind is refused", async () => {
    const { keel, turnId, pending } = await waiting({
      step: [issue("pay", { amount: 1 }, "a"), issue("ext", {}, "e")],
    });
    for (const [callId, verdicts] of [
      ["a", [undefined, true, "deny", "defer", {}, { result: 1 }, { deny: 1 }, null]],
      ["e", ["allow", undefined, {}, { deny: 1 }, { result: 1n }]],
    ]) {
      for (const verdict of verdicts) {
        assert.equal(
          await code(keel.resume(turnId, { approvals: { [pending[callId].id]: verdict } })),
          "OPTION_INVALID",
          `${callId}: ${String(verdict)}`,
        );
      }
    }
  });

  test("D-31 a turn that is unknown, live or over cannot be resumed; nor can one twice", async () => {
    const { keel, turnId, resume, pending } = await waiting();
    assert.equal(await code(keel.resume("nobody")), "OPTION_INVALID");
    const first = resume({ p1: "allow" });
    assert.equal(await code(keel.resume(turnId, { approvals: { [pending.p1.id]: "allow" } })), "OPTION_INVALID");
    assert.equal((await first).outcome.status, "completed");
    assert.equal(await code(resume({ p1: "allow" })), "OPTION_INVALID");
    assert.throws(
      () => keel.resumeStream("nobody"),
      (error) => error.code === "OPTION_INVALID",
    );
  });

  test("D-31 a child is resumed through its root alone", async () => {
    const child = agentOf([issue("pay", { amount: 1 }), text("child done")], { id: "child", tools: [payOf().tool] });
    const keel = createKeel();
    const parent = agentOf([issue("run-child", { brief: "x" }), text("done")], {
      id: "parent",
      tools: [asTool(child)],
    });
    const { turnId, outcome } = await keel.run(parent, "go");
    const [pending] = outcome.pending;
    assert.equal(await code(keel.resume(pending.turnId, { approvals: { [pending.id]: "allow" } })), "OPTION_INVALID");
    assert.equal((await keel.resume(turnId, { approvals: { [pending.id]: "allow" } })).outcome.status, "completed");
  });

  test("another keel knows nothing of it", async () => {
    const { turnId } = await waiting();
    assert.equal(await code(createKeel().resume(turnId)), "OPTION_INVALID");
  });
});

describe("two runs that wait", () => {
  test("BL-073 are resumed apart, in any order", async () => {
    const pay = payOf();
    const agent = agentOf(scriptedModel([issue("pay", { amount: 1 }), text("done")], { perTurn: true }), {
      tools: [pay.tool, toolOf("unused")],
    });
    const keel = createKeel();
    const [one, two] = [await keel.run(agent, "one"), await keel.run(agent, "two")];
    for (const { turnId, outcome } of [two, one]) {
      assert.equal(
        (await keel.resume(turnId, { approvals: { [outcome.pending[0].id]: "allow" } })).outcome.status,
        "completed",
      );
    }
    assert.equal(pay.runs.length, 2);
  });
});

describe("D-1 time limits after a suspension, when the host had no use for its timer", () => {
  const hanging = () => toolOf("pay", () => new Promise(() => {}), { approval: "required" });

  test("a resumed run ends at its deadline", async () => {
    const clock = virtualClock();
    const agent = agentOf([issue("pay"), text("done")], { tools: [hanging()], budget: { timeMs: 300 } });
    const keel = createKeel({ clock });
    const { turnId, outcome } = await keel.run(agent, "go");
    const resumed = keel.resume(turnId, { approvals: { [outcome.pending[0].id]: "allow" } });
    await clock.advance(299);
    assert.equal((await keel.records.get(turnId)).status, "running");
    await clock.advance(1);
    assert.equal((await resumed).outcome.cause.code, "BUDGET_TIME");
  });

  test("so does another run that is begun meanwhile", async () => {
    const clock = virtualClock();
    const asks = agentOf([issue("pay"), text("done")], { tools: [hanging()], budget: { timeMs: 100 } });
    const hangs = agentOf(() => new Promise(() => {}), { budget: { timeMs: 300 } });
    const keel = createKeel({ clock });
    assert.equal((await keel.run(asks, "go")).outcome.status, "suspended");
    const other = keel.run(hangs, "go");
    await clock.advance(300);
    assert.equal((await other).outcome.cause.code, "BUDGET_TIME");
  });
});
