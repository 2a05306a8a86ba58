import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { native } from "../../js/binding/native.js";
import { createKeel } from "../../js/index.js";
import { virtualClock } from "../../js/testing/index.js";
import { agentOf, toolOf } from "../scenes/small-agents.js";

/** A model that answers when it is let go, or never. */
function held() {
  const waiting = [];
  const model = {
    id: "held",
    generate: (_request, { signal }) =>
      new Promise((resolve, reject) => {
        waiting.push(() => resolve({ text: "done" }));
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  return { model, letGo: () => waiting.splice(0).forEach((answer) => answer()) };
}

/** More synchronous work than the host performs in one go. */
function block() {
  const end = performance.now() + 15;
  while (performance.now() < end);
}

describe("the host knows a turn from the moment run() returned", () => {
  test("a thousand starts and a close() settle every promise", async () => {
    const keel = createKeel();
    const agent = agentOf(held().model);
    const runs = Array.from({ length: 1000 }, () => keel.run(agent, "go"));
    await keel.close();
    const results = await Promise.all(runs);
    assert.ok(results.every(({ outcome }) => outcome.status === "stopped"));
  });

  test("also when their starts wait for the host to come back from a pause", async () => {
    const keel = createKeel();
    const agent = agentOf({
      id: "slow",
      generate: async () => {
        block();
        return { text: "late" };
      },
    });
    const runs = Array.from({ length: 20 }, () => keel.run(agent, "go"));
    await keel.close();
    for (const { outcome } of await Promise.all(runs)) assert.match(outcome.status, /^(?:stopped|completed)$/);
  });

  test("stop() and records find it at once, from inside a synchronous tool too", async () => {
    const keel = createKeel();
    let inner;
    const seen = {};
    const starting = toolOf("starting", () => {
      inner = keel.stream(agentOf(held().model, { id: "inner" }), "go");
      seen.record = keel.records.get(inner.turnId);
      seen.stopped = keel.stop(inner.turnId, { reason: "no need" });
      return "started";
    });
    const outer = agentOf([{ toolCalls: [{ toolName: "starting", input: {} }] }, { text: "done" }], {
      tools: [starting],
    });
    const { outcome } = await keel.run(outer, "go");
    assert.equal(outcome.status, "completed");
    assert.equal(await seen.stopped, true);
    assert.equal((await seen.record).status, "running");
    assert.deepEqual((await inner.result).outcome, { status: "stopped", reason: "no need" });
    assert.equal(await keel.stop(inner.turnId), false, "it is over");
  });
});

describe("a fault ends its own tree", () => {
  test("D-34 a clock that gives no number fails the run it was asked for, and its signal aborts", async () => {
    const clock = virtualClock();
    let broken = false;
    const keel = createKeel({ clock: { ...clock, now: () => (broken ? Number.NaN : clock.now()) } });
    const [first, second] = [held(), held()];
    let signal;
    const watched = {
      id: "watched",
      generate(request, options) {
        signal = options.signal;
        return first.model.generate(request, options);
      },
    };
    const looking = toolOf("look", (_input, { progress }) => {
      broken = true;
      progress({ message: "half" });
      broken = false;
      return new Promise(() => {});
    });
    const failing = keel.run(
      agentOf([{ toolCalls: [{ toolName: "look", input: {} }] }], { id: "failing", tools: [looking] }),
      "go",
    );
    const other = keel.run(agentOf(watched), "go");
    const third = keel.run(agentOf(second.model), "go");
    const { outcome, record } = await failing;
    assert.equal(outcome.status, "failed");
    assert.equal(outcome.cause.code, "INTERNAL");
    assert.match(outcome.cause.message, /clock\.now\(\).*NaN/);
    assert.equal((await keel.records.get(record.turnId)).status, "failed");

    assert.equal(signal.aborted, false, "the neighbour's signal is its own");
    first.letGo();
    second.letGo();
    assert.equal((await other).text, "done");
    assert.equal((await third).text, "done");
  });

  test("D-34 whatever throws on its way in: that run fails with what was thrown, the next one runs", async () => {
    for (const name of ["result", "reply", "start"]) {
      const keel = createKeel();
      const own = native[name];
      const looking = toolOf("look", () => ({ seen: true }));
      const script = () => [{ toolCalls: [{ toolName: "look", input: {} }] }, { text: "done" }];
      native[name] = () => {
        throw new RangeError("too long");
      };
      let settled;
      try {
        [settled] = await Promise.allSettled([keel.run(agentOf(script(), { tools: [looking] }), "go")]);
      } finally {
        native[name] = own;
      }
      const code = settled.value === undefined ? settled.reason.code : settled.value.outcome.cause.code;
      assert.equal(code, "INTERNAL", name);
      const next = await keel.run(agentOf(script(), { tools: [looking] }), "go");
      assert.equal(next.text, "done", `after ${name}`);
      await keel.close();
    }
  });
});

describe("trees share nothing", () => {
  test("a run crosses into the core as often beside many suspended trees as alone", async () => {
    const keel = createKeel();
    const asking = toolOf("pay", () => "paid", { approval: "required" });
    const crossings = async () => {
      let count = 0;
      const own = { reply: native.reply, result: native.result, input: native.input, answer: native.answer };
      for (const [name, call] of Object.entries(own)) native[name] = (...given) => ((count += 1), call(...given));
      try {
        const looking = toolOf("look", () => "seen");
        const script = [{ toolCalls: [{ toolName: "look", input: {} }] }, { text: "done" }];
        assert.equal((await keel.run(agentOf(script, { tools: [looking] }), "go")).text, "done");
      } finally {
        Object.assign(native, own);
      }
      return count;
    };
    const alone = await crossings();
    const suspended = await Promise.all(
      Array.from({ length: 500 }, () =>
        keel.run(agentOf([{ toolCalls: [{ toolName: "pay", input: {} }] }], { tools: [asking] }), "go"),
      ),
    );
    assert.ok(suspended.every(({ outcome }) => outcome.status === "suspended"));
    assert.equal(await crossings(), alone);
    await keel.close();
  });
});
