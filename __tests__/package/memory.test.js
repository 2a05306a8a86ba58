import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { native } from "../../js/binding/native.js";
import { createKeel, run } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { collector } from "../scenes/collector.js";
import { agentOf, collect, outputsIn, parentOf, toolOf } from "../scenes/small-agents.js";

const collectGarbage = collector();

/** Counts the abort listeners of a signal, of whatever kind. */
function counted(signal) {
  const live = new Set();
  let most = 0;
  const { addEventListener, removeEventListener } = signal;
  return {
    signal: Object.assign(signal, {
      addEventListener(type, listener, options) {
        live.add(listener);
        most = Math.max(most, live.size);
        return addEventListener.call(signal, type, listener, options);
      },
      removeEventListener(type, listener, options) {
        live.delete(listener);
        return removeEventListener.call(signal, type, listener, options);
      },
    }),
    live: () => live.size,
    most: () => most,
  };
}

/** A tree in which a parent asks a child once, whose tool is called once. */
function smallTree() {
  const child = agentOf(({ messages }) => (outputsIn(messages).length === 0 ? toolCall("note") : text("found")), {
    id: "child",
    tools: [toolOf("note", async (_input, { signal }) => signal.aborted)],
  });
  return parentOf(child, ({ messages }) =>
    outputsIn(messages).length === 0 ? toolCall("run-child", { brief: "x" }) : text("done"),
  );
}

describe("BL-127 listeners of a long-lived signal", () => {
  for (const [name, make] of [
    ["an AbortSignal", () => new AbortController().signal],
    [
      "a signal of somebody else's making",
      () => Object.assign(new EventTarget(), { aborted: false, reason: undefined }),
    ],
  ]) {
    test(`BL-127 thousands of runs on ${name} leave none behind, and never more than one at once`, async () => {
      const warnings = [];
      const warn = (warning) => warnings.push(warning.name);
      process.on("warning", warn);
      const { signal, live, most } = counted(make());
      const agent = smallTree();
      for (let round = 0; round < 50; round += 1)
        await Promise.all(Array.from({ length: 40 }, () => run(agent, "go", { signal })));
      const fan = parentOf(
        agentOf(() => text("x"), { id: "child" }),
        ({ messages }) =>
          outputsIn(messages).length === 0
            ? Array.from({ length: 200 }, () => toolCall("run-child", { brief: "x" }))
            : text("done"),
        {},
        { budget: { toolCalls: 200 } },
      );
      await run(fan, "go", { signal });
      await new Promise((resolve) => setImmediate(resolve));
      process.removeListener("warning", warn);
      assert.deepEqual([live(), most(), warnings], [0, 1, []]);
    });
  }

  test("BL-127 a run that is stopped leaves none behind either", async () => {
    const controller = new AbortController();
    const { signal, live } = counted(controller.signal);
    const runs = Array.from({ length: 20 }, () =>
      run(agentOf({ id: "m", generate: () => new Promise(() => {}) }), "go", { signal }),
    );
    assert.equal(live(), 1);
    controller.abort("no");
    for (const { outcome } of await Promise.all(runs)) assert.equal(outcome.status, "stopped");
    assert.equal(live(), 0);
  });
});

describe("BL-128 what finished runs leave behind", () => {
  const heapAfter = async (rounds, once) => {
    for (let round = 0; round < rounds; round += 1) await Promise.all(Array.from({ length: 20 }, once));
    // What a collection sets free may hold more, until its callbacks have run.
    for (let time = 0; time < 5; time += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    return process.memoryUsage().heapUsed;
  };

  for (const [name, once] of [
    ["run()", (keel, agent) => keel.run(agent, "go")],
    ["stream(), read", async (keel, agent) => void (await collect(keel.stream(agent, "go")))],
    ["stream(), unread", (keel, agent) => keel.stream(agent, "go").result],
  ]) {
    test(`BL-128 D-40 ${name}: less than a kilobyte a run on the heap, once the store is full`, async () => {
      const keel = createKeel({ keep: { trees: 10 } });
      const make = () => once(keel, smallTreeOf(keel));
      await heapAfter(20, make);
      const before = await heapAfter(20, make);
      const after = await heapAfter(40, make);
      assert.ok((after - before) / 800 < 1_024, `${(after - before) / 800} bytes a run`);
    });
  }

  const trees = new WeakMap();
  // One definition for all runs of a keel: a scripted model would keep every request it saw.
  function smallTreeOf(keel) {
    if (!trees.has(keel)) {
      const child = agentOf(
        {
          id: "m",
          generate: async ({ messages }) =>
            messages.length === 1 ? { toolCalls: [{ toolName: "note" }] } : { text: "found" },
        },
        { id: "child", tools: [toolOf("note", async (_input, { signal }) => signal.aborted)] },
      );
      trees.set(
        keel,
        parentOf(child, {
          generate: async ({ messages }) =>
            messages.length === 1
              ? { toolCalls: [{ toolName: "run-child", input: { brief: "x" } }] }
              : { text: "done" },
          id: "p",
        }),
      );
    }
    return trees.get(keel);
  }
});

describe("keels that nobody has any longer", () => {
  test("take their engines with them, and a number that is gone is refused", async () => {
    const closed = [];
    const { closeEngine } = native;
    native.closeEngine = (engine) => (closed.push(engine), closeEngine(engine));
    try {
      for (let round = 0; round < 20; round += 1) await createKeel().run(agentOf([text("done")]), "go");
      for (let turn = 0; turn < 50 && closed.length === 0; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        collectGarbage();
      }
    } finally {
      native.closeEngine = closeEngine;
    }
    assert.ok(closed.length > 0);
    assert.throws(() => native.query(closed[0], '{"type":"idempotencyKey","body":{"id":0}}', 0), /no such engine/);
  });
});
