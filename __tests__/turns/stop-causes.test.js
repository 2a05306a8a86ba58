import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, run } from "../../js/index.js";
import { delay, fail, hang, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, ofType, outputsIn, parentOf, toolOf, unpaired } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

const immediate = () => new Promise((resolve) => setImmediate(resolve));

describe("causes", () => {
  test("BL-031 D-2 a stop, an own deadline, a caller's deadline and a caller's end are four causes", async () => {
    const seen = {};
    const childOf = () => agentOf([hang()], { id: "child" });
    const child = async (keel, result) => {
      const { outcome } = await keel.records.get(`${result.turnId}.1`);
      return [outcome.status, outcome.cause?.code, outcome.cause?.ceiling];
    };
    for (const how of ["stop", "own", "caller", "ended"]) {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const broken = agentOf([delay(50, fail(new Error("x")))], { id: "broken" });
      const tools = [
        asTool(childOf(), { retries: 2, ...(how === "own" && { budget: { timeMs: 50 } }) }),
        asTool(broken, { onError: "fail" }),
      ];
      const script = how === "ended" ? [[call, toolCall("run-broken", { brief: "x" })]] : [call, text("went on")];
      const running = keel.stream(
        agentOf(script, { id: "parent", tools }),
        "go",
        how === "caller" ? { budget: { timeMs: 50 } } : {},
      );
      await clock.advance(how === "own" ? 150 : 50);
      if (how === "stop") await running.stop("user");
      seen[how] = await child(keel, await running.result);
    }
    assert.deepEqual(seen, {
      stop: ["stopped", undefined, undefined],
      own: ["failed", "BUDGET_TIME", "own"],
      caller: ["failed", "BUDGET_TIME", "caller"],
      ended: ["failed", "PARENT_ENDED", undefined],
    });
  });

  test("D-2 BL-031 at one instant children expire first, then the parent", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const child = agentOf([hang()], { id: "child" });
    const running = keel.run(parentOf(child, [call, text("never")], { budget: { timeMs: 100 }, retries: 3 }), "go", {
      budget: { timeMs: 100 },
    });
    await clock.advance(100);
    const result = await running;
    assert.equal(result.outcome.cause.code, "BUDGET_TIME");
    const records = (await keel.records.tree(result.turnId)).children;
    assert.equal(records.length, 1);
    const events = await keel.records.events(result.turnId, { tree: true });
    assert.deepEqual(
      ofType(events, "turn.failed").map(({ agentId }) => agentId),
      ["child", "parent"],
    );
  });

  test("BL-031 in a race the first to fire wins", async () => {
    for (const first of ["stop", "deadline"]) {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const stop = new AbortController();
      const running = keel.run(agentOf([hang({ ignoreAbort: true })]), "go", {
        signal: stop.signal,
        budget: { timeMs: 100 },
      });
      await clock.advance(first === "stop" ? 99 : 100);
      stop.abort("user");
      await clock.advance(10);
      const { outcome } = await running;
      assert.equal(outcome.cause?.code ?? outcome.reason, first === "stop" ? "user" : "BUDGET_TIME");
    }
  });

  test("NT-38 BL-036 when a turn ends, its three live children have ended before", async () => {
    const enders = {
      fails: {
        script: [[call, call, call, toolCall("run-broken", { brief: "x" })]],
        cause: "CHILD_FAILED",
        childs: "PARENT_ENDED",
      },
      "times out": {
        script: [[call, call, call]],
        options: { budget: { timeMs: 50 } },
        cause: "BUDGET_TIME",
        childs: "BUDGET_TIME",
      },
    };
    for (const { script, options = {}, cause, childs } of Object.values(enders)) {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const broken = agentOf([delay(50, fail(new Error("x")))], { id: "broken" });
      const child = agentOf(() => hang({ ignoreAbort: true }), { id: "child" });
      const running = keel.run(
        agentOf(script, { id: "parent", tools: [asTool(child), asTool(broken, { onError: "fail" })] }),
        "go",
        options,
      );
      await clock.advance(50);
      const result = await running;
      assert.equal(result.outcome.cause.code, cause);
      const records = (await keel.records.list({ agentId: "child" })).items;
      assert.deepEqual(
        records.map(({ outcome }) => outcome.cause.code),
        [childs, childs, childs],
      );
      assert.deepEqual((await keel.records.list({ status: "running" })).items, []);
      const events = await keel.records.events(result.turnId, { tree: true });
      assert.deepEqual(unpaired(events), []);
      assert.equal(events.at(-1).turnId, result.turnId);
    }
  });

  test("BL-021 every call's signal belongs to the run: of the root, of a child, of a retry, streamed", async () => {
    const signals = [];
    const tool = toolOf(
      "look",
      (_input, { signal, abortSignal }) => (
        assert.equal(signal, abortSignal),
        signals.push(signal),
        new Promise(() => {})
      ),
    );
    const keel = createKeel();
    const child = agentOf([fail(new Error("first")), toolCall("look")], { id: "child", tools: [tool] });
    const stop = new AbortController();
    const streams = [
      keel.stream(
        agentOf([[toolCall("look"), call]], { id: "parent", tools: [tool, asTool(child, { retries: 1 })] }),
        "go",
        { signal: stop.signal },
      ),
    ];
    await immediate();
    assert.equal(signals.length, 2);
    assert.ok(signals.every((signal) => signal instanceof AbortSignal && !signal.aborted));
    stop.abort("all");
    await streams[0].result;
    assert.ok(signals.every(({ aborted, reason }) => aborted && reason === "all"));
  });

  test("BL-033 observers of the signal disturb nothing", async () => {
    const tool = toolOf("watch", async (_input, { signal, progress }) => {
      const cancelled = new Promise((resolve) => signal.addEventListener("abort", resolve));
      for (let n = 0; n < 50; n += 1) void cancelled.then(String);
      await Promise.resolve();
      progress({ done: 1 });
      await Promise.resolve();
      return "fine";
    });
    const agent = agentOf([toolCall("watch"), text("done")], { tools: [tool] });
    assert.equal((await run(agent, "go")).text, "done");
    assert.deepEqual(outputsIn(agent.model.requests[1].messages), [{ type: "text", value: "fine" }]);
  });
});
