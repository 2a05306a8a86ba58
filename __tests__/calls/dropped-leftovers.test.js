import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { asTool, createKeel, defineMiddleware, toolError } from "../../js/index.js";
import { text } from "../../js/testing/index.js";
import { calling, failed, leafOf } from "../scenes/calling.js";
import { agentOf, toolOf } from "../scenes/small-agents.js";

const KB = 1024;

const immediate = () => new Promise((resolve) => setImmediate(resolve));

/** A signal made by hand, which counts its listeners. */
function handMadeSignal() {
  const listeners = new Set();
  let peak = 0;
  return {
    aborted: false,
    reason: undefined,
    addEventListener: (_type, listener) => (listeners.add(listener), (peak = Math.max(peak, listeners.size))),
    removeEventListener: (_type, listener) => listeners.delete(listener),
    abort(reason) {
      Object.assign(this, { aborted: true, reason });
      for (const listener of listeners) listener({ type: "abort" });
    },
    get listening() {
      return listeners.size;
    },
    get peak() {
      return peak;
    },
  };
}

/** Runs this and tells which warnings the process drew. */
async function warnings(run) {
  const drawn = [];
  const note = ({ name }) => drawn.push(name);
  process.on("warning", note);
  await run();
  for (let round = 0; round < 3; round += 1) await immediate();
  process.off("warning", note);
  return drawn;
}

describe("abort signals that live long", () => {
  test("BL-127 one controller over many runs has no listener left, and draws no warning", async () => {
    const { signal } = new AbortController();
    const agent = agentOf(() => text("done"));
    const keel = createKeel({ keep: { trees: 10 } });
    const drawn = await warnings(async () => {
      for (let batch = 0; batch < 50; batch += 1) {
        await Promise.all(Array.from({ length: 100 }, () => keel.run(agent, "go", { signal })));
      }
    });
    assert.deepEqual([drawn, getEventListeners(signal, "abort").length], [[], 0]);
  });

  test("BL-127 a run with 200 children at once needs one listener", async () => {
    const signal = handMadeSignal();
    const child = agentOf(() => text("child done"), { id: "child" });
    let during;
    const body = async ({ callTool }) => {
      await Promise.all(Array.from({ length: 200 }, () => callTool("run-child", { brief: "x" })));
      during = signal.listening;
    };
    const drawn = await warnings(() =>
      calling(body, [asTool(child)], { run: { signal }, agent: { budget: { toolCalls: 300 } } }),
    );
    assert.deepEqual([drawn, during, signal.peak, signal.listening], [[], 1, 1, 0]);
  });

  test("BL-127 200 nested calls that share a signal need one listener, and none once they are over", async () => {
    for (const signal of [new AbortController().signal, handMadeSignal()]) {
      const body = ({ callTool }) => Promise.all(Array.from({ length: 200 }, () => callTool("leaf", {}, { signal })));
      const leaf = leafOf("leaf", immediate);
      const drawn = await warnings(() => calling(body, [leaf.tool], { agent: { budget: { toolCalls: 300 } } }));
      assert.deepEqual([drawn, leaf.runs.length, signal.peak ?? 1], [[], 200, 1]);
      assert.equal(signal.listening ?? getEventListeners(signal, "abort").length, 0);
    }
  });

  test("BL-127 a signal made by hand works like any other, for a run and for a nested call", async () => {
    const stop = handMadeSignal();
    const drop = handMadeSignal();
    const stuck = toolOf("stuck", () => new Promise(() => {}));
    const body = async ({ callTool }) => {
      const dropped = failed(callTool("stuck", {}, { signal: drop }));
      await immediate();
      drop.abort("not needed");
      assert.equal((await dropped).code, "TOOL_FAILED");
      callTool("stuck");
      await immediate();
      stop.abort("enough");
      await new Promise(() => {});
    };
    const { result } = await calling(body, [stuck], { run: { signal: stop } });
    assert.deepEqual([result.outcome, stop.listening, drop.listening], [{ status: "stopped", reason: "enough" }, 0, 0]);
  });
});

describe("what is left of runs that are over", () => {
  test("BL-128 what tools and wrap layers threw is let go", async () => {
    const collect = collector();
    const thrown = [];
    const fresh = (make) => () => {
      const error = make();
      thrown.push(new WeakRef(error));
      throw error;
    };
    const foreign = fresh(() => new Error("foreign"));
    const own = fresh(() => toolError("own"));
    const tools = [toolOf("foreign", foreign), toolOf("own", own)];
    const body = async ({ callTool }) => {
      for (const id of ["foreign", "own"]) await callTool(id).catch(() => {});
      foreign();
    };
    const layers = [
      (_context, _call, next) => next(),
      async (_context, _call, next) => {
        await next().catch(() => {});
        return foreign();
      },
    ];
    const keels = [{}, ...layers.map((wrapTool) => ({ middleware: [defineMiddleware({ name: "wrap", wrapTool })] }))];
    const kept = [];
    for (const keel of keels) kept.push((await calling(body, tools, { keel })).keel);
    for (let round = 0; round < 10 && thrown.some((ref) => ref.deref()); round += 1) {
      await immediate();
      collect();
    }
    assert.deepEqual(
      thrown.map((ref) => ref.deref()?.message),
      thrown.map(() => undefined),
    );
    assert.equal(kept.length, keels.length);
  });

  test("BL-128 thousands of runs with nested calls leave no heap behind", async (t) => {
    const collect = collector();
    const leaf = leafOf();
    const caller = toolOf("caller", async (_input, { callTool }) => {
      await callTool("leaf");
      await callTool("ghost").catch(() => {});
    });
    const agent = agentOf(forgetfulModel(), { tools: [caller, leaf.tool] });
    const keel = createKeel({ limits: { maxNestedDepth: 1 }, keep: { trees: 10 } });
    const batch = async (runs) => {
      for (let n = 0; n < runs; n += 1) await keel.run(agent, "go");
      leaf.runs.length = 0;
      collect();
      await immediate();
      collect();
      return process.memoryUsage().heapUsed;
    };
    await batch(500);
    const before = await batch(300);
    const after = await batch(1_000);
    assert.ok(after - before < 1_000 * KB, `${Math.round((after - before) / 1_000)} bytes a run stay`);
    t.diagnostic?.(`${Math.round((after - before) / 1_000)} bytes a run`);
  });
});

/** Collects garbage, whatever the runtime was started with. */
function collector() {
  if (globalThis.Bun) return () => globalThis.Bun.gc(true);
  if (!globalThis.gc) {
    setFlagsFromString("--expose-gc");
    globalThis.gc = runInNewContext("gc");
  }
  return globalThis.gc;
}

/** A model that keeps nothing of what it was asked. */
function forgetfulModel() {
  return {
    id: "one",
    generate: async ({ messages }) =>
      messages.length > 1
        ? { content: "done" }
        : { content: [{ type: "tool-call", toolCallId: "p1", toolName: "caller", input: {} }] },
  };
}
