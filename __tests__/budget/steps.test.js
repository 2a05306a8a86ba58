import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, run } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { note, working } from "../scenes/noting.js";
import { agentOf, anything, lastOutputs, ofType, parentOf, toolOf } from "../scenes/small-agents.js";

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
          message: "agent 'child' ran out of steps: its budget is 2",
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
        message: "agent 'parent' ran out of steps: its budget is 2",
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
