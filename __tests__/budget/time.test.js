import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, KeelError, run } from "../../js/index.js";
import { delay, hang, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { waiting } from "../scenes/noting.js";
import { agentOf, lastOutputs, parentOf, toolOf } from "../scenes/small-agents.js";

describe("time", () => {
  for (const how of ["run", "stream"]) {
    test(`BL-017 a model that never settles ends with the deadline in ${how}()`, async () => {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const agent = agentOf([hang({ ignoreAbort: true })]);
      const options = { budget: { timeMs: 200 } };
      const running = how === "run" ? keel.run(agent, "go", options) : keel.stream(agent, "go", options).result;
      await clock.advance(199);
      assert.equal((await keel.records.list({ status: "running" })).items.length, 1);
      await clock.advance(1);
      const { outcome, record } = await running;
      assert.deepEqual([outcome.cause.code, outcome.cause.limit, outcome.cause.ceiling], ["BUDGET_TIME", 200, "own"]);
      assert.deepEqual([record.budget.used.timeMs, record.budget.ceiling], [200, "own"]);
    });
  }

  test("NT-22 the deadline aborts the model call and the tool in flight, whether or not they listen", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    let modelSignal;
    let toolSignal;
    const slow = agentOf([(_request, { signal }) => ((modelSignal = signal), hang())]);
    const deaf = agentOf([toolCall("deaf")], {
      tools: [toolOf("deaf", (_input, { signal }) => ((toolSignal = signal), new Promise(() => {})))],
    });
    const running = [slow, deaf].map((agent) => keel.run(agent, "go", { budget: { timeMs: 50 } }));
    await clock.advance(50);
    for (const { outcome } of await Promise.all(running)) assert.equal(outcome.cause.code, "BUDGET_TIME");
    for (const signal of [modelSignal, toolSignal]) {
      assert.equal(signal.aborted, true);
      assert.ok(KeelError.isInstance(signal.reason));
      assert.equal(signal.reason.code, "TIMEOUT");
    }
  });

  test("NT-22 a child has its own time within what its caller has left, and the record says which ceiling bit", async () => {
    const outcomes = [];
    for (const [own, callers] of [
      [100, 1_000],
      [1_000, 100],
      [undefined, 100],
    ]) {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const child = agentOf([hang()], { id: "child" });
      const parent = parentOf(
        child,
        [toolCall("run-child", { brief: "x" }), text("went on")],
        own === undefined ? {} : { budget: { timeMs: own } },
      );
      const running = keel.run(parent, "go", { budget: { timeMs: callers } });
      await clock.advance(100);
      const result = await running;
      const record = await keel.records.get(`${result.turnId}.1`);
      outcomes.push([
        result.outcome.cause?.code ?? result.text,
        record.outcome.cause.code,
        record.outcome.cause.ceiling,
        record.budget.ceiling,
        record.budget.used.timeMs,
      ]);
    }
    assert.deepEqual(outcomes, [
      ["went on", "BUDGET_TIME", "own", "own", 100],
      ["BUDGET_TIME", "BUDGET_TIME", "caller", "caller", 100],
      ["BUDGET_TIME", "BUDGET_TIME", "caller", "caller", 100],
    ]);
  });

  test("NT-22 NT-23 another child does not extend the parent's deadline", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const child = agentOf(() => hang(), { id: "child" });
    const parent = parentOf(child, () => toolCall("run-child", { brief: "x" }), { budget: { timeMs: 40 } });
    const running = keel.run(parent, "go", { budget: { timeMs: 100 } });
    await clock.advance(1_000);
    const result = await running;
    assert.deepEqual([result.outcome.cause.code, result.record.budget.used.timeMs], ["BUDGET_TIME", 100]);
    const { children } = await keel.records.tree(result.turnId);
    assert.deepEqual(
      children.map(({ record }) => [record.budget.used.timeMs, record.budget.ceiling]),
      [
        [40, "own"],
        [40, "own"],
        [20, "caller"],
      ],
    );
  });

  test("BL-029 after a child's timeout its loop is over, and the parent goes on", async () => {
    const clock = virtualClock();
    let count = 0;
    const tick = toolOf("tick", async () => {
      await waiting(clock)(30);
      count += 1;
    });
    const child = agentOf(() => toolCall("tick"), { id: "child", tools: [tick] });
    const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), delay(500, text("went on"))], {
      budget: { timeMs: 100 },
    });
    const running = createKeel({ clock }).run(parent, "go");
    await clock.advance(100);
    const atTimeout = count;
    await clock.advance(1_000);
    assert.equal((await running).text, "went on");
    assert.ok(count <= atTimeout + 1, `${count} calls, ${atTimeout} at the timeout`);
    assert.match(lastOutputs(parent)[0].value.cause.message, /out of time/);
  });

  test("D-20 a tool's own timeout answers the call and ends nothing", async () => {
    const clock = virtualClock();
    let signal;
    const slow = toolOf("slow", (_input, context) => ((signal = context.signal), new Promise(() => {})), {
      timeoutMs: 50,
    });
    const agent = agentOf([toolCall("slow"), text("went on")], { tools: [slow] });
    const running = createKeel({ clock }).run(agent, "go");
    await clock.advance(49);
    assert.equal(signal.aborted, false);
    await clock.advance(1);
    assert.equal((await running).text, "went on");
    assert.deepEqual([signal.aborted, signal.reason.code], [true, "TIMEOUT"]);
    assert.deepEqual(lastOutputs(agent), [{ type: "error-text", value: "tool `slow` timed out after 50 ms" }]);
  });

  test("D-20 limits.toolTimeout gives tools without one theirs, and clamps the others", async () => {
    const toolTimeout = { inheritedMs: 40, minMs: 20, maxMs: 80 };
    for (const [own, expected] of [
      [undefined, 40],
      [5, 20],
      [60, 60],
      [500, 80],
      ["unbounded", undefined],
    ]) {
      const clock = virtualClock();
      const agent = agentOf([toolCall("slow"), text("done")], {
        tools: [toolOf("slow", () => new Promise(() => {}), { ...(own !== undefined && { timeoutMs: own }) })],
      });
      const running = createKeel({ clock }).run(agent, "go", { limits: { toolTimeout }, budget: { timeMs: 1_000 } });
      await clock.advance(1_000);
      const { outcome } = await running;
      if (expected === undefined) assert.equal(outcome.cause.code, "BUDGET_TIME");
      else assert.equal(lastOutputs(agent)[0].value, `tool \`slow\` timed out after ${expected} ms`);
    }
  });

  test("D-5 a delay longer than timers can hold is waited for in full", async () => {
    const { outcome } = await run(agentOf([text("fine")]), "go", { budget: { timeMs: 2 ** 40 } });
    assert.equal(outcome.status, "completed");
  });
});
