import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, run } from "../../js/index.js";
import { text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, lastOutputs, ofType, outputsIn, parentOf, toolOf } from "../scenes/small-agents.js";

describe("calls of one step", () => {
  test("NT-29 BL-053 one throwing call drops no result of its siblings, in request order", async () => {
    const clock = virtualClock();
    const wait = (ms) => new Promise((resolve) => clock.setTimer(clock.now() + ms, resolve));
    const tools = [
      toolOf("ok", async ({ ms }) => (await wait(ms), `after ${ms}`)),
      toolOf("broken", async ({ ms }) => {
        await wait(ms);
        throw new Error("private text");
      }),
    ];
    const agent = agentOf(
      [[toolCall("ok", { ms: 50 }), toolCall("broken", { ms: 10 }), toolCall("ok", { ms: 5 })], text("done")],
      { tools },
    );
    const keel = createKeel({ clock });
    const running = keel.run(agent, "go");
    await clock.advance(60);
    const result = await running;
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(lastOutputs(agent), [
      { type: "text", value: "after 50" },
      { type: "error-text", value: "tool dispatch failed" },
      { type: "text", value: "after 5" },
    ]);
    const ends = ofType(await keel.records.events(result.turnId), "tool.completed", "tool.failed");
    assert.deepEqual(
      ends.map(({ type, durationMs }) => [type, durationMs]),
      [
        ["tool.completed", 5],
        ["tool.failed", 10],
        ["tool.completed", 50],
      ],
    );
  });

  test("BL-054 of 27 parallel calls one reports a failure, and 26 bodies complete", async () => {
    let entered = 0;
    const tool = toolOf("work", async ({ n }) => {
      entered += 1;
      await Promise.resolve();
      return n === 13 ? { kind: "tool-result", isError: true, text: "not this one" } : n;
    });
    const calls = Array.from({ length: 27 }, (_, n) => toolCall("work", { n }));
    const agent = agentOf([calls, text("done")], { tools: [tool] });
    await run(agent, "go");
    const outputs = lastOutputs(agent);
    assert.equal(entered, 27);
    assert.deepEqual(
      outputs.map(({ type, value }) => (type === "json" ? value : `${type}: ${value}`)),
      Array.from({ length: 27 }, (_, n) => (n === 13 ? "error-text: not this one" : n)),
    );
  });

  test("BL-061 the same tool twice in one step runs twice, with ids of its own", async () => {
    const ids = [];
    const search = toolOf("search", ({ q }, { callId }) => (ids.push(callId), q));
    const agent = agentOf([[toolCall("search", { q: "X" }), toolCall("search", { q: "Y" })], text("done")], {
      tools: [search],
    });
    await run(agent, "go");
    assert.deepEqual(
      lastOutputs(agent).map(({ value }) => value),
      ["X", "Y"],
    );
    assert.equal(new Set(ids).size, 2);
  });

  test("D-10 model-issued calls of a step start together, explicitly exclusive ones one at a time, in order", async () => {
    const log = [];
    const body =
      (id) =>
      async ({ n }) => {
        log.push(`${id}${n} starts`);
        await Promise.resolve();
        log.push(`${id}${n} ends`);
      };
    const script = (id) => [[toolCall(id, { n: 1 }), toolCall(id, { n: 2 })], text("done")];
    for (const [id, rest] of [
      ["unset", {}],
      ["shared", { concurrency: "shared" }],
      ["exclusive", { concurrency: "exclusive" }],
      ["dynamic", { concurrency: ({ n }) => (n === 3 ? "shared" : "exclusive") }],
    ]) {
      await run(agentOf(script(id), { tools: [toolOf(id, body(id), rest)] }), "go");
    }
    const of = (id) => log.filter((line) => line.startsWith(id));
    assert.deepEqual(of("unset"), ["unset1 starts", "unset2 starts", "unset1 ends", "unset2 ends"]);
    assert.deepEqual(of("shared"), ["shared1 starts", "shared2 starts", "shared1 ends", "shared2 ends"]);
    assert.deepEqual(of("exclusive"), ["exclusive1 starts", "exclusive1 ends", "exclusive2 starts", "exclusive2 ends"]);
    assert.deepEqual(of("dynamic"), ["dynamic1 starts", "dynamic1 ends", "dynamic2 starts", "dynamic2 ends"]);
  });

  test('D-10 limits.toolExecution: "sequential" runs a whole step one call at a time', async () => {
    const log = [];
    const tool = (id) =>
      toolOf(id, async () => {
        log.push(`${id}+`);
        await Promise.resolve();
        log.push(`${id}-`);
      });
    const calls = [toolCall("a"), toolCall("b"), toolCall("c")];
    await run(agentOf([calls, text("done")], { tools: [tool("a"), tool("b"), tool("c")] }), "go", {
      limits: { toolExecution: "sequential" },
    });
    assert.deepEqual(log, ["a+", "a-", "b+", "b-", "c+", "c-"]);
  });

  test("BL-026 a call that rejects with an AbortError of its own fails alone", async () => {
    const abort = toolOf("abort", async () => {
      throw new DOMException("mine", "AbortError");
    });
    const agent = agentOf([[toolCall("ok"), toolCall("abort"), toolCall("ok")], text("went on")], {
      id: "child",
      tools: [toolOf("ok"), abort],
    });
    const parent = parentOf(agent, [toolCall("run-child", { brief: "go" }), text("done")]);
    const result = await run(parent, "go");
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(
      outputsIn(agent.model.requests[1].messages).map(({ type }) => type),
      ["text", "error-text", "text"],
    );
  });
});
