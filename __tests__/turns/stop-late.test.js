import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, definePart } from "../../js/index.js";
import { text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, deferred, ofType, parentOf, toolOf } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

const immediate = () => new Promise((resolve) => setImmediate(resolve));

describe("what comes too late", () => {
  test("BL-020 NT-03 a tool that resolves after the stop changes no record, event or transcript", async () => {
    const late = deferred();
    const stop = new AbortController();
    let context;
    const tool = toolOf(
      "late",
      (_input, given) => ((context = given), queueMicrotask(() => stop.abort("no")), late.promise),
    );
    const child = agentOf([toolCall("late"), text("never")], { id: "child", tools: [tool] });
    const keel = createKeel();
    const result = await keel.run(parentOf(child, [call]), "go", { signal: stop.signal });
    const look = async () =>
      JSON.stringify([
        await keel.records.tree(result.turnId),
        await keel.records.events(result.turnId, { tree: true }),
      ]);
    const before = await look();
    context.progress({ message: "still here" });
    late.resolve("too late");
    await immediate();
    assert.equal(await look(), before);
  });

  for (const [how, settle] of [
    ["resolves with text", ({ resolve }) => resolve({ text: "late words" })],
    ["throws", ({ reject }) => reject(new Error("late failure"))],
  ]) {
    test(`BL-028 NT-03 a stopped child whose model ${how} later stays stopped`, async () => {
      const late = deferred();
      const keel = createKeel();
      const child = agentOf(
        { id: "m", generate: (_request, { turnId }) => (void keel.stop(turnId, { scope: "subtree" }), late.promise) },
        { id: "child" },
      );
      const parent = parentOf(child, [call, text("went on")]);
      const result = await keel.run(parent, "go");
      const before = await keel.records.get(`${result.turnId}.1`);
      settle(late);
      await immediate();
      assert.deepEqual(await keel.records.get(`${result.turnId}.1`), before);
      assert.equal(before.status, "stopped");
      assert.doesNotMatch(JSON.stringify(result.record.transcript), /late words/);
    });
  }

  for (const [name, options, code] of [
    ["a stop", { how: "stop" }, "CANCELLED"],
    ["its turn's deadline", { how: "deadline" }, "TIMEOUT"],
    ["its own timeout", { how: "timeout" }, "TIMEOUT"],
    ["its own end", { how: "end" }, "TOOL_FAILED"],
  ]) {
    test(`D-12 a context that is used after ${name} answers ${code}`, async () => {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const note = definePart({ name: "note", schema: anything });
      let context;
      const timeoutMs = options.how === "timeout" ? { timeoutMs: 10 } : {};
      const tool = toolOf(
        "keep",
        (_input, given) => ((context = given), options.how === "end" ? 1 : new Promise(() => {})),
        timeoutMs,
      );
      const running = keel.run(
        agentOf([toolCall("keep"), text("done")], { tools: [tool], emits: [note] }),
        "go",
        options.how === "deadline" ? { budget: { timeMs: 10 } } : {},
      );
      await clock.advance(10);
      if (options.how === "stop") await keel.stop(context.turnId);
      await running;
      await assert.rejects(context.callTool("keep", {}), { code });
      assert.throws(() => context.emit(note, {}), { code });
      context.progress({ done: 1 });
      assert.deepEqual(context.budget, { stepsLeft: 0, toolCallsLeft: 0, timeLeftMs: 0 });
      assert.equal(context.callId, "call-1");
      assert.equal(context.signal.aborted, options.how !== "end");
    });
  }

  test("BL-035 the end of an abandoned call says that its effect is unknown", async () => {
    const stop = new AbortController();
    const tool = toolOf("write", () => (queueMicrotask(() => stop.abort("no")), new Promise(() => {})));
    const keel = createKeel();
    const { turnId } = await keel.run(agentOf([[toolCall("write"), toolCall("nobody")]], { tools: [tool] }), "go", {
      signal: stop.signal,
    });
    const events = await keel.records.events(turnId);
    const [{ error }] = ofType(events, "tool.failed");
    assert.equal(error.code, "CANCELLED");
    assert.match(error.message, /unknown/);
    assert.equal(ofType(events, "tool.refused")[0].error.code, "TOOL_NOT_FOUND");
  });

  test("BL-027 a stop in the microtask in which the last call resolves: one outcome, never both", async () => {
    const keel = createKeel();
    const seen = new Set();
    for (let round = 0; round < 60; round += 1) {
      const stop = new AbortController();
      const late = deferred();
      const agent = agentOf([toolCall("work"), text("done")], { tools: [toolOf("work", () => late.promise)] });
      const running = keel.run(agent, "go", { signal: stop.signal });
      await immediate();
      const steps = [() => stop.abort("no"), () => late.resolve(1)];
      let acknowledged = false;
      const order = round % 2 === 0 ? steps : steps.toReversed();
      order[0]();
      for (let tick = 0; tick < round % 30; tick += 1) await Promise.resolve();
      order[1]();
      acknowledged = stop.signal.aborted;
      const { outcome, turnId } = await running;
      if (order[0] === steps[0]) assert.equal(outcome.status, "stopped");
      assert.ok(acknowledged);
      seen.add(outcome.status);
      const ends = ofType(await keel.records.events(turnId), "turn.completed", "turn.stopped", "turn.failed");
      assert.equal(ends.length, 1);
      assert.equal(ends[0].type, `turn.${outcome.status}`);
    }
    assert.deepEqual([...seen].toSorted(), ["completed", "stopped"]);
  });
});
