import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, KeelError, run } from "../js/index.js";
import { delay, hang, reply, text, toolCall, virtualClock } from "../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, outputsIn, parentOf, toolOf } from "./small-agents.js";

const waiting = (clock) => (ms) => new Promise((resolve) => clock.setTimer(clock.now() + ms, resolve));

/** A script that calls a tool this many times and then says so. */
const working = (times) => [...Array.from({ length: times }, () => toolCall("note")), text(`after ${times}`)];
const note = () => toolOf("note");

describe("steps", () => {
  test("BL-006 a child that needs 25 model calls completes within 30 steps and fails at exactly 24", async () => {
    for (const [steps, calls, ok] of [
      [30, 25, true],
      [25, 25, true],
      [24, 24, false],
    ]) {
      const child = agentOf(working(24), { id: "child", tools: [note()] });
      const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], { budget: { steps } });
      await run(parent, "go");
      assert.equal(child.model.requests.length, calls);
      const [{ value }] = lastOutputs(parent);
      assert.equal(value.ok, ok);
      if (!ok) assert.deepEqual([value.cause.code, value.cause.limit], ["BUDGET_STEPS", steps]);
    }
  });

  test("the default is 25 steps and 50 tool calls", async () => {
    const { record } = await run(agentOf([text("fine")]), "go");
    assert.deepEqual(record.budget, {
      granted: { steps: 25, toolCalls: 50 },
      used: { steps: 1, toolCalls: 0, nestedCalls: 0, timeMs: record.budget.used.timeMs },
    });
    const endless = agentOf(() => toolCall("note"), { tools: [note()] });
    const result = await run(endless, "go");
    assert.deepEqual(
      [result.outcome.cause.code, result.outcome.cause.limit, endless.model.requests.length],
      ["BUDGET_STEPS", 25, 25],
    );
  });

  test("BL-007 NT-21 two children with budgets of their own each stop at theirs, and the parent's moves by its own calls only", async () => {
    const endless = (id) => agentOf(() => toolCall("note"), { id, tools: [note()] });
    const [small, large] = [endless("small"), endless("large")];
    const parent = agentOf(
      [[toolCall("run-small", { brief: "x" }), toolCall("run-large", { brief: "x" })], text("done")],
      {
        id: "parent",
        tools: [asTool(small, { budget: { steps: 3 } }), asTool(large, { budget: { steps: 12 } })],
        budget: { steps: 20 },
      },
    );
    const { record } = await run(parent, "go");
    assert.deepEqual([small.model.requests.length, large.model.requests.length, record.budget.used.steps], [3, 12, 2]);
  });

  test("D-18 the connection's budget wins over the agent's, field by field", async () => {
    const child = agentOf(() => toolCall("note"), { id: "child", tools: [note()], budget: { steps: 9, toolCalls: 7 } });
    const keel = createKeel();
    const { turnId } = await keel.run(
      parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], { budget: { steps: 4 } }),
      "go",
    );
    const record = await keel.records.get(`${turnId}.1`);
    assert.deepEqual(record.budget.granted, { steps: 4, toolCalls: 7 });
    const own = await keel.run(child, "go", { budget: { toolCalls: 2 } });
    assert.deepEqual(own.record.budget.granted, { steps: 9, toolCalls: 2 });
  });

  test("BL-004 NT-26 a step limit in the delegation's arguments changes nothing", async () => {
    const child = agentOf(() => toolCall("note"), { id: "child", tools: [note()] });
    const args = { brief: "x", maxSteps: 50, budget: { steps: 50 }, limits: { maxDepth: 99 }, retries: 5 };
    const keel = createKeel();
    const { turnId } = await keel.run(
      parentOf(child, [toolCall("run-child", args), text("done")], { budget: { steps: 4 } }),
      "go",
    );
    assert.equal(child.model.requests.length, 4);
    assert.equal((await keel.records.get(`${turnId}.1`)).input, "x");
    assert.equal(await keel.records.get(`${turnId}.2`), undefined);
  });

  for (const steps of ["5", 5.5, 0, -1, Number.NaN, Infinity, 1e21, null]) {
    test(`BL-005 budget.steps ${typeof steps === "string" ? `"${steps}"` : steps} is refused by run() before any model call`, async () => {
      const agent = agentOf([text("never")]);
      await assert.rejects(run(agent, "go", { budget: { steps } }), { code: "BUDGET_INVALID" });
      assert.throws(() => asTool(agent, { budget: { steps } }), { code: "BUDGET_INVALID" });
      assert.equal(agent.model.requests.length, 0);
    });
  }

  test("BL-008 a child's step limit reaches the parent as what it is", async () => {
    const child = agentOf(() => toolCall("note"), { id: "child", tools: [note()] });
    const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("went on")], { budget: { steps: 2 } });
    const result = await run(parent, "go");
    assert.equal(result.outcome.status, "completed");
    const [output] = lastOutputs(parent);
    assert.deepEqual(output, {
      type: "error-json",
      value: {
        ok: false,
        cause: {
          code: "BUDGET_STEPS",
          message: "agent 'child' used its 2 steps without finishing",
          turnId: `${result.turnId}.1`,
          limit: 2,
        },
        turnId: `${result.turnId}.1`,
      },
    });
  });

  test("BL-014 a child that ends by itself below its limit shows both numbers and no limit", async () => {
    const child = agentOf(working(21), { id: "child", tools: [note()] });
    const keel = createKeel();
    const { turnId } = await keel.run(
      parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], { budget: { steps: 64 } }),
      "go",
    );
    const record = await keel.records.get(`${turnId}.1`);
    assert.deepEqual(
      [record.status, record.budget.used.steps, record.budget.granted.steps, record.partial, record.budget.ceiling],
      ["completed", 22, 64, undefined, undefined],
    );
    assert.deepEqual(ofType(await keel.records.events(turnId, { tree: true }), "limit.reached"), []);
  });

  test("BL-015 NT-14 a delegation on the last step: the parent fails its own budget, the child's record keeps its work", async () => {
    const report = definePart({ name: "report", schema: anything, persist: "content" });
    const child = agentOf([toolCall("submit_report", { all: "of it" })], { id: "child", emits: [report] });
    const parent = agentOf([toolCall("note"), toolCall("run-child", { brief: "x" }), text("never")], {
      id: "parent",
      tools: [note(), asTool(child, { deliverable: report })],
      budget: { steps: 2 },
    });
    const keel = createKeel();
    const result = await keel.run(parent, "go");
    assert.deepEqual(result.outcome, {
      status: "failed",
      cause: {
        code: "BUDGET_STEPS",
        message: "agent 'parent' used its 2 steps without finishing",
        turnId: result.turnId,
        limit: 2,
      },
    });
    assert.equal(parent.model.requests.length, 2);
    const record = await keel.records.get(`${result.turnId}.1`);
    assert.deepEqual([record.status, record.parts], ["completed", [{ part: "report", value: { all: "of it" } }]]);
    assert.equal(ofType(await keel.records.events(result.turnId), "limit.reached")[0].limit, "steps");
  });

  test("NT-14 one more step is enough to use the result", async () => {
    const child = agentOf([text("found")], { id: "child" });
    const parent = parentOf(
      child,
      [toolCall("run-child", { brief: "x" }), text("used it")],
      {},
      { budget: { steps: 2 } },
    );
    assert.equal((await run(parent, "go")).text, "used it");
  });

  test('NT-14 D-4 onExhausted "answer" grants one last step without tools, and the record says so', async () => {
    const agent = agentOf([toolCall("note"), toolCall("note"), text("as far as I got")], {
      tools: [note()],
      budget: { steps: 2, onExhausted: "answer" },
    });
    const keel = createKeel();
    const result = await keel.run(agent, "go");
    assert.deepEqual([result.outcome.status, result.text], ["completed", "as far as I got"]);
    assert.deepEqual(
      agent.model.requests.map(({ tools }) => tools.length),
      [1, 1, 0],
    );
    assert.equal(result.record.budget.answerStep, true);
    assert.equal(result.record.budget.used.steps, 2);
    assert.deepEqual(
      ofType(await keel.records.events(result.turnId), "limit.reached").map(({ limit, max }) => [limit, max]),
      [["steps", 2]],
    );
  });

  test("NT-14 D-4 a last step that calls a tool all the same runs nothing and fails", async () => {
    let ran = 0;
    const agent = agentOf(() => toolCall("note"), {
      tools: [toolOf("note", () => (ran += 1))],
      budget: { steps: 2, onExhausted: "answer" },
    });
    const { outcome } = await run(agent, "go");
    assert.deepEqual([outcome.cause.code, ran, agent.model.requests.length], ["BUDGET_STEPS", 2, 3]);
  });

  test("NT-14 without need of it no last step is granted", async () => {
    const agent = agentOf([toolCall("note"), text("done")], {
      tools: [note()],
      budget: { steps: 2, onExhausted: "answer" },
    });
    assert.equal((await run(agent, "go")).record.budget.answerStep, undefined);
  });

  test("D-4 with a contract the last step offers only the submit tool, and ending without it is DELIVERABLE_MISSING", async () => {
    const report = definePart({ name: "report", schema: anything, persist: "content" });
    const budget = { steps: 1, onExhausted: "answer" };
    const options = { emits: [report], tools: [note()], budget };
    const kept = agentOf([toolCall("note"), toolCall("submit_report", { n: 1 })], options);
    const result = await run(kept, "go", { deliverable: report });
    assert.deepEqual([result.outcome.status, result.deliverable], ["completed", { n: 1 }]);
    assert.deepEqual(
      kept.model.requests[1].tools.map(({ name }) => name),
      ["submit_report"],
    );
    assert.deepEqual(kept.model.requests[1].toolChoice, { type: "tool", toolName: "submit_report" });
    const broken = agentOf([toolCall("note"), text("no")], options);
    assert.equal((await run(broken, "go", { deliverable: report })).outcome.cause.code, "DELIVERABLE_MISSING");
    assert.equal(broken.model.requests.length, 2);
  });
});

describe("tool calls", () => {
  test("BL-003 D-9 of eight calls in one step with room for six, six bodies run and two are refused", async () => {
    let entered = 0;
    const agent = agentOf([Array.from({ length: 8 }, () => toolCall("work"))], {
      tools: [toolOf("work", () => (entered += 1))],
    });
    const keel = createKeel();
    const result = await keel.run(agent, "go", { budget: { toolCalls: 6 } });
    assert.equal(entered, 6);
    assert.deepEqual([result.outcome.cause.code, result.outcome.cause.limit], ["BUDGET_TOOL_CALLS", 6]);
    assert.equal(result.record.budget.used.toolCalls, 6);
    const events = await keel.records.events(result.turnId);
    assert.deepEqual([ofType(events, "tool.started").length, ofType(events, "tool.completed").length], [6, 6]);
    assert.deepEqual(
      ofType(events, "tool.refused").map(({ error }) => error),
      Array.from({ length: 2 }, () => ({ code: "LIMIT_EXCEEDED", message: "max tool calls (6) exceeded" })),
    );
    assert.deepEqual(
      ofType(events, "limit.reached").map(({ limit, max }) => [limit, max]),
      [["toolCalls", 6]],
    );
    const outputs = outputsIn(result.record.transcript);
    assert.deepEqual(
      outputs.map(({ type }) => type),
      [...Array.from({ length: 6 }, () => "json"), "error-text", "error-text"],
    );
  });

  test("D-9 as many calls as there is room for end nothing", async () => {
    const agent = agentOf([Array.from({ length: 6 }, () => toolCall("note")), text("done")], { tools: [note()] });
    assert.equal((await run(agent, "go", { budget: { toolCalls: 6 } })).text, "done");
  });

  test('D-4 D-9 limits.behavior "stopWithPartial" completes with what there is', async () => {
    const agent = agentOf([[text("so far"), toolCall("note"), toolCall("note")]], {
      tools: [note()],
      budget: { toolCalls: 1 },
      limits: { behavior: "stopWithPartial" },
    });
    const keel = createKeel();
    const result = await keel.run(agent, "go");
    assert.deepEqual(
      [result.outcome.status, result.partial, result.text, result.record.partial],
      ["completed", true, "so far", true],
    );
    assert.equal(ofType(await keel.records.events(result.turnId), "turn.completed")[0].partial, true);
    const parent = parentOf(
      agentOf([[text("so far"), toolCall("note"), toolCall("note")]], {
        id: "child",
        tools: [note()],
        budget: { toolCalls: 1 },
      }),
      [toolCall("run-child", { brief: "x" }), text("done")],
      { limits: { behavior: "stopWithPartial" } },
    );
    await run(parent, "go");
    assert.deepEqual(lastOutputs(parent)[0].value, { ok: true, text: "so far", parts: [], partial: true });
  });

  test("D-4 a contract is never partial", async () => {
    const report = definePart({ name: "report", schema: anything, persist: "content" });
    const agent = agentOf([[toolCall("note"), toolCall("note")]], {
      emits: [report],
      tools: [note()],
      budget: { toolCalls: 1 },
      limits: { behavior: "stopWithPartial" },
    });
    assert.equal((await run(agent, "go", { deliverable: report })).outcome.cause.code, "BUDGET_TOOL_CALLS");
  });

  for (const [how, fails] of [
    ["reports a failure", () => ({ kind: "tool-result", isError: true, text: "no" })],
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
  ]) {
    test(`BL-011 a tool that always ${how} runs ten times under a cap of ten`, async () => {
      let entered = 0;
      const agent = agentOf(() => toolCall("work"), { tools: [toolOf("work", () => ((entered += 1), fails()))] });
      const { outcome } = await run(agent, "go", { budget: { toolCalls: 10, steps: 100 } });
      assert.deepEqual([entered, outcome.cause.code], [10, "BUDGET_TOOL_CALLS"]);
    });
  }

  test("BL-010 the same limit on a child holds in the foreground, among siblings, two levels down and streamed", async () => {
    const made = () => {
      let entered = 0;
      const child = agentOf(() => toolCall("work"), {
        id: "child",
        tools: [toolOf("work", () => (entered += 1))],
        budget: { toolCalls: 4 },
      });
      return { child, entered: () => entered };
    };
    const once = [toolCall("run-child", { brief: "x" }), text("done")];
    const shapes = {
      foreground: (child) => parentOf(child, once),
      siblings: (child) => {
        const other = agentOf(working(2), { id: "other", tools: [note()] });
        return agentOf([[toolCall("run-child", { brief: "x" }), toolCall("run-other", { brief: "x" })], text("done")], {
          id: "parent",
          tools: [asTool(child), asTool(other)],
        });
      },
      "two levels down": (child) =>
        agentOf([toolCall("run-parent", { brief: "x" }), text("done")], {
          id: "root",
          tools: [asTool(parentOf(child, once))],
        }),
      streamed: (child) => parentOf(child, once),
    };
    for (const [name, shape] of Object.entries(shapes)) {
      const { child, entered } = made();
      const keel = createKeel();
      const result =
        name === "streamed" ? await keel.stream(shape(child), "go").result : await keel.run(shape(child), "go");
      const events = await keel.records.events(result.turnId, { tree: true });
      const reached = ofType(events, "limit.reached").map(({ agentId, limit, max }) => [agentId, limit, max]);
      assert.deepEqual([name, entered(), reached], [name, 4, [["child", "toolCalls", 4]]]);
    }
  });

  test("D-9 a refused call gives its slot back: invalid arguments and unknown tools cost nothing", async () => {
    const strict = toolOf("strict", () => "ok", {
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    });
    const agent = agentOf([[toolCall("strict", {}), toolCall("nobody"), toolCall("strict", { n: 1 })], text("done")], {
      tools: [strict],
    });
    const result = await run(agent, "go", { budget: { toolCalls: 1 } });
    assert.deepEqual([result.text, result.record.budget.used.toolCalls], ["done", 1]);
  });

  test("maxUses bounds one tool per turn, and the turn goes on", async () => {
    let entered = 0;
    const rare = toolOf("rare", () => (entered += 1), { maxUses: 2 });
    const agent = agentOf([[toolCall("rare"), toolCall("rare"), toolCall("rare")], toolCall("rare"), text("done")], {
      tools: [rare],
    });
    const result = await run(agent, "go");
    assert.deepEqual([entered, result.text], [2, "done"]);
    assert.deepEqual(
      lastOutputs(agent).slice(2),
      Array.from({ length: 2 }, () => ({
        type: "error-text",
        value: "tool 'rare' may be used at most 2 times in a turn",
      })),
    );
    const again = agentOf([toolCall("rare"), text("done")], { tools: [rare] });
    await run(again, "go");
    assert.equal(entered, 3);
  });

  test("a tool reads what is left of the budget, at the moment of reading", async () => {
    const clock = virtualClock();
    const seen = [];
    const look = toolOf("look", async (_input, context) => {
      seen.push({ ...context.budget });
      await waiting(clock)(100);
      seen.push(context.budget.timeLeftMs);
    });
    const agent = agentOf([toolCall("look"), text("done")], { tools: [look] });
    const running = createKeel({ clock }).run(agent, "go", { budget: { steps: 5, toolCalls: 7, timeMs: 1_000 } });
    await clock.advance(100);
    await running;
    assert.deepEqual(seen, [{ stepsLeft: 4, toolCallsLeft: 6, timeLeftMs: 1_000 }, 900]);
  });
});

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

describe("limits of a tool's result", () => {
  const big = "é".repeat(6_500_000);

  test("BL-125 D-39 limits.toolResultBytes cuts what the model sees, at a character, with a mark", async () => {
    for (const level of ["root", "child"]) {
      const agent = agentOf([toolCall("dump"), text("done")], { id: "reader", tools: [toolOf("dump", () => big)] });
      const root = level === "root" ? agent : parentOf(agent, [toolCall("run-reader", { brief: "x" }), text("done")]);
      await createKeel({ limits: { toolResultBytes: 16_385 } }).run(root, "go");
      const [{ type, value }] = lastOutputs(agent);
      assert.equal(type, "text");
      assert.equal(value, `${"é".repeat(8_192)}\n[truncated: the first 16384 of 13000000 bytes]`);
    }
  });

  test("D-39 a result of exactly that size is whole", async () => {
    const agent = agentOf([toolCall("dump"), text("done")], { tools: [toolOf("dump", () => "x".repeat(100))] });
    await run(agent, "go", { limits: { toolResultBytes: 100 } });
    assert.equal(lastOutputs(agent)[0].value, "x".repeat(100));
  });

  test("BL-126 seven large child results are each capped, and whole in their records", async () => {
    const report = "r".repeat(40_960);
    const child = agentOf(() => text(report), { id: "child" });
    const parent = parentOf(child, [
      Array.from({ length: 7 }, () => toolCall("run-child", { brief: "x" })),
      text("done"),
    ]);
    const keel = createKeel();
    const result = await keel.run(parent, "go", { limits: { toolResultBytes: 1_000 } });
    assert.equal(result.text, "done");
    const outputs = lastOutputs(parent);
    assert.equal(outputs.length, 7);
    for (const { value } of outputs)
      assert.match(value, /^\{"ok":true,"text":"r+\n\[truncated: the first 1000 of \d+ bytes\]$/);
    const { children } = await keel.records.tree(result.turnId);
    for (const { record } of children) assert.equal(record.transcript.at(-1).content[0].text, report);
  });

  test("BL-051 a deliverable of 200 KB arrives whole under a cap of 16 KB", async () => {
    const report = definePart({
      name: "report",
      schema: { type: "object", properties: { body: { type: "string" } }, required: ["body"] },
      persist: "content",
    });
    const body = "b".repeat(200_000);
    const child = agentOf([toolCall("submit_report", { body })], { id: "child", emits: [report] });
    const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], { deliverable: report });
    await run(parent, "go", { limits: { toolResultBytes: 16_384 } });
    assert.deepEqual(lastOutputs(parent), [{ type: "json", value: { ok: true, deliverable: { body } } }]);
  });
});
