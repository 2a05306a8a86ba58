import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel } from "../../js/index.js";
import { scriptedModel, text } from "../../js/testing/index.js";
import { calling, failed, issue, leafOf, overlap } from "../scenes/calling.js";
import { agentOf, deferred, lastOutputs, toolOf } from "../scenes/small-agents.js";

const immediate = () => new Promise((resolve) => setImmediate(resolve));

/** A body that runs while it is counted. */
const counted = (live) => async () => {
  live.enter();
  await immediate();
  live.leave();
  return "ok";
};

describe("limits.maxToolConcurrency", () => {
  test("D-19 bounds the bodies of nested calls and of the model's together", async () => {
    for (const max of [1, 2, 3]) {
      const live = overlap();
      const leaf = leafOf("leaf", counted(live));
      const batch = Array.from({ length: 6 }, (_, n) => issue("leaf", {}, `c${n}`));
      const body = ({ callTool }) => Promise.all(Array.from({ length: 6 }, () => callTool("leaf")));
      const { result } = await calling(body, [leaf.tool], {
        script: [[issue(), ...batch], text("done")],
        keel: { limits: { maxToolConcurrency: max } },
      });
      assert.deepEqual([live.peak, leaf.runs.length, result.outcome.status], [max, 12, "completed"]);
    }
  });

  test("D-19 BL-057 with one slot nested calls and child turns never wait without end", async () => {
    const order = [];
    const child = agentOf(scriptedModel([issue("deep"), text("child done")], { perTurn: true }), {
      id: "child",
      tools: [
        toolOf("deep", (_input, { callTool }) => callTool("deepest")),
        toolOf("deepest", () => void order.push("deepest")),
      ],
    });
    const body = async ({ callTool }) => {
      await Promise.all([callTool("middle"), callTool("middle"), callTool("run-child", { brief: "x" })]);
      order.push("caller");
    };
    const middle = toolOf("middle", async (_input, { callTool }) => {
      await callTool("leaf");
      await callTool("run-child", { brief: "x" });
      order.push("middle");
    });
    const { result } = await calling(body, [middle, leafOf().tool, asTool(child)], {
      keel: { limits: { maxToolConcurrency: 1 } },
    });
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(order.toSorted(), ["caller", "deepest", "deepest", "deepest", "middle", "middle"]);
    assert.equal(order.at(-1), "caller");
  });

  test("D-19 BL-058 5x5x5: with n slots at most n bodies run, and all 125 finish", async () => {
    for (const max of [1, 2, 4]) {
      const live = overlap();
      let finished = 0;
      const leaf = toolOf("work", async () => {
        await counted(live)();
        finished += 1;
      });
      const five = (id, args = {}) => Array.from({ length: 5 }, (_, n) => issue(id, args, `c${n}`));
      const level = (id, calls, tools) =>
        agentOf(scriptedModel([calls, text("done")], { perTurn: true }), { id, tools });
      const third = level("third", five("work"), [leaf]);
      const second = level("second", five("run-third", { brief: "x" }), [asTool(third)]);
      const first = level("first", five("run-second", { brief: "x" }), [asTool(second)]);
      const { outcome } = await createKeel({ limits: { maxToolConcurrency: max } }).run(first, "go");
      assert.deepEqual([outcome.status, finished, live.peak], ["completed", 125, max]);
    }
  });

  test("D-19 BL-058 the same through nested calls alone", async () => {
    const live = overlap();
    const fan =
      (next) =>
      async (_input, { callTool }) =>
        void (await Promise.all(Array.from({ length: 5 }, () => callTool(next))));
    const shared = { concurrency: "shared" };
    const leaf = leafOf("leaf", counted(live));
    const tools = [toolOf("second", fan("third"), shared), toolOf("third", fan("leaf"), shared), leaf.tool];
    const { result } = await calling(({ callTool }) => fan("second")(undefined, { callTool }), tools, {
      agent: { budget: { toolCalls: 200 } },
      keel: { limits: { maxToolConcurrency: 2 } },
    });
    assert.deepEqual([result.outcome.status, leaf.runs.length, live.peak], ["completed", 125, 2]);
  });

  test("D-19 whoever lent its slot gets one back ahead of new calls", async () => {
    const order = [];
    const leaf = leafOf("leaf", () => void order.push("leaf"));
    const other = toolOf("other", () => void order.push("other"));
    const script = [[issue(), issue("other", {}, "p2"), issue("other", {}, "p3")], text("done")];
    const body = async ({ callTool }) => {
      order.push("caller in");
      await callTool("leaf");
      order.push("caller out");
    };
    await calling(body, [leaf.tool, other], { script, keel: { limits: { maxToolConcurrency: 1 } } });
    assert.ok(order.indexOf("leaf") < order.indexOf("caller out"));
    // p2 and p3 asked before the nested call did; the caller, once its call is answered, goes before whoever is left.
    assert.deepEqual(order.toSorted(), ["caller in", "caller out", "leaf", "other", "other"]);
  });

  test("D-19 a call that is dropped gives its slot back at once, although its body still runs", async () => {
    const never = deferred();
    const stuck = leafOf("stuck", () => never.promise);
    const leaf = leafOf();
    const body = async ({ callTool }) => {
      const stop = new AbortController();
      const waiting = callTool("stuck", {}, { signal: stop.signal });
      await immediate();
      stop.abort();
      await failed(waiting);
      return (await callTool("leaf")).text;
    };
    const { returned } = await calling(body, [stuck.tool, leaf.tool], { keel: { limits: { maxToolConcurrency: 1 } } });
    assert.deepEqual([returned, stuck.runs.length], ["leaf-out", 1]);
  });

  test("D-19 a call that begins something new while it waits for its slot lends that slot again", async () => {
    for (const abandons of [false, true]) {
      const held = deferred();
      const occupying = deferred();
      const occupied = toolOf("occupied", () => (occupying.resolve(), held.promise), { concurrency: "shared" });
      const other = toolOf("other", (_input, { callTool }) => callTool("occupied"));
      const leaf = leafOf();
      const stop = new AbortController();
      const body = async ({ callTool }) => {
        const first = callTool("leaf", {}, { signal: stop.signal });
        // The first call is over, and its answer waits for the slot that `occupied` has.
        await occupying.promise;
        const second = callTool("leaf");
        if (abandons) stop.abort();
        await immediate();
        held.resolve("done");
        await Promise.allSettled([first, second]);
      };
      const script = [[issue(), issue("other", {}, "p2")], text("done")];
      const { result } = await calling(body, [leaf.tool, other, occupied], {
        script,
        keel: { limits: { maxToolConcurrency: 1 } },
        run: { signal: AbortSignal.timeout(5_000) },
      });
      assert.deepEqual([leaf.runs.length, result.outcome.status], [2, "completed"]);
    }
  });

  test("D-18 an agent may lower it for its own tree, not raise it", async () => {
    for (const [own, peak] of [
      [1, 1],
      [5, 2],
    ]) {
      const live = overlap();
      const leaf = leafOf("leaf", counted(live));
      const batch = Array.from({ length: 6 }, (_, n) => issue("leaf", {}, `c${n}`));
      await calling(() => {}, [leaf.tool], {
        script: [batch, text("done")],
        keel: { limits: { maxToolConcurrency: 2 } },
        agent: { limits: { maxToolConcurrency: own } },
      });
      assert.equal(live.peak, peak);
    }
  });
});

describe("many at once", () => {
  test("BL-067 10,000 nested calls started in one tick all settle", async () => {
    const leaf = leafOf("leaf", ({ n }) => n);
    const count = 10_000;
    const body = async ({ callTool }) =>
      (await Promise.all(Array.from({ length: count }, (_, n) => callTool("leaf", { n })))).every(
        ({ value }, n) => value === n,
      );
    const { returned, result } = await calling(body, [leaf.tool], { agent: { budget: { toolCalls: count + 1 } } });
    assert.deepEqual([returned, leaf.runs.length, result.outcome.status], [true, count, "completed"]);
    assert.equal(result.record.budget.used.nestedCalls, count);
  });

  test("BL-059 ten delegations to one definition at once have ten transcripts of their own", async () => {
    const child = agentOf(scriptedModel([issue("echo"), text("done")], { perTurn: true }), {
      id: "child",
      tools: [toolOf("echo")],
    });
    const body = ({ callTool }) =>
      Promise.all(Array.from({ length: 10 }, (_, n) => callTool("run-child", { brief: `task ${n}` })));
    const { result, keel } = await calling(body, [asTool(child)]);
    const { children } = await keel.records.tree(result.turnId);
    assert.deepEqual(
      children.map(({ record }) => record.transcript[0].content).toSorted(),
      Array.from({ length: 10 }, (_, n) => `task ${n}`),
    );
    for (const { record } of children)
      assert.deepEqual(
        record.transcript.map(({ role }) => role),
        ["user", "assistant", "tool", "assistant"],
      );
  });

  test("BL-066 a model that crashes in one of four children leaves three results and one feedback", async () => {
    const children = ["a", "b", "c", "d"].map((id) =>
      agentOf(
        {
          id,
          generate: async () => {
            if (id === "c") throw new TypeError("adapter broke");
            return { content: `${id} done` };
          },
        },
        { id },
      ),
    );
    const step = children.map(({ id }) => issue(`run-${id}`, { brief: "x" }, id));
    const parent = agentOf([step, text("done")], { id: "parent", tools: children.map((one) => asTool(one)) });
    const keel = createKeel();
    const result = await keel.run(parent, "go");
    const outputs = lastOutputs(parent);
    assert.deepEqual(
      outputs.map(({ type }) => type.startsWith("error")),
      [false, false, true, false],
    );
    assert.match(JSON.stringify(outputs[2]), /MODEL_ERROR.*adapter broke/);
    const statuses = (await keel.records.tree(result.turnId)).children.map(({ record }) => record.status);
    assert.deepEqual(statuses, ["completed", "completed", "failed", "completed"]);
  });
});
