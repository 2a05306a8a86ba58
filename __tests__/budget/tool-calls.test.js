import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, run } from "../../js/index.js";
import { text, toolCall, virtualClock } from "../../js/testing/index.js";
import { note, waiting, working } from "../scenes/noting.js";
import { agentOf, anything, lastOutputs, ofType, outputsIn, parentOf, toolOf } from "../scenes/small-agents.js";

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
