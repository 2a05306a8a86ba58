import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, defineMiddleware } from "../../js/index.js";
import { text, virtualClock } from "../../js/testing/index.js";
import { callLines, calling, issue, leafOf, overlap, refusal } from "../scenes/calling.js";
import { agentOf, deferred, toolOf } from "../scenes/small-agents.js";

const immediate = () => new Promise((resolve) => setImmediate(resolve));

/** A tool that lets others in while it runs. */
function slowOf(live, id, rest) {
  const execute = async () => {
    live.enter();
    await immediate();
    await immediate();
    live.leave();
    return id;
  };
  return toolOf(id, execute, rest);
}

/** How many of `count` nested calls to `tool` overlap. */
async function peakOf(rest, { count = 4, keel, given = () => ({}) } = {}) {
  const live = overlap();
  const tool = slowOf(live, "leaf", rest);
  const body = ({ callTool }) => Promise.all(Array.from({ length: count }, (_, n) => callTool("leaf", given(n))));
  const { result } = await calling(body, [tool], { keel });
  assert.equal(result.outcome.status, "completed");
  return live.peak;
}

describe("the gate between nested calls", () => {
  test('NC-62 D-10 calls to a tool that says nothing, or "exclusive", run one at a time', async () => {
    assert.equal(await peakOf({}), 1);
    assert.equal(await peakOf({ concurrency: "exclusive" }), 1);
    assert.equal(await peakOf({ concurrency: "shared" }), 4);
  });

  test("NC-62 D-10 a function says it for each call; what it answers besides is exclusive", async () => {
    const concurrency = ({ safe }) => (safe ? "shared" : "exclusive");
    assert.equal(await peakOf({ concurrency }, { given: () => ({ safe: true }) }), 4);
    assert.equal(await peakOf({ concurrency }, { given: () => ({ safe: false }) }), 1);
    assert.equal(await peakOf({ concurrency: () => undefined }), 1);
  });

  test("NC-62 a tool with injected arguments is exclusive", async () => {
    assert.equal(await peakOf({ concurrency: "shared", injects: [{ name: "id", from: "toolCallId" }] }), 1);
  });

  test("NC-62 across two parallel callers too", async () => {
    const live = overlap();
    const both = overlap();
    const caller = (id) =>
      toolOf(id, async (_input, { callTool }) => {
        both.enter();
        await Promise.all([callTool("leaf"), callTool("leaf")]);
        both.leave();
      });
    const script = [[issue("one", {}, "p1"), issue("two", {}, "p2")], text("done")];
    await calling(() => {}, [caller("one"), caller("two"), slowOf(live, "leaf")], { script });
    assert.deepEqual([live.peak, both.peak], [1, 2]);
  });

  test("D-10 never relates nested calls to the model's own", async () => {
    const live = overlap();
    const script = [[issue("caller", {}, "p1"), issue("leaf", {}, "p2")], text("done")];
    await calling(({ callTool }) => callTool("leaf"), [slowOf(live, "leaf")], { script });
    assert.equal(live.peak, 2);
  });

  test("NC-63 safe and unsafe calls of one tool never overlap, and nobody starves", async () => {
    const order = [];
    const concurrency = ({ safe }) => (safe ? "shared" : "exclusive");
    const execute = async ({ name }) => {
      order.push(`${name} in`);
      await immediate();
      order.push(`${name} out`);
    };
    const body = ({ callTool }) =>
      Promise.all(["s1", "s2", "x", "s3", "s4"].map((name) => callTool("leaf", { name, safe: name.startsWith("s") })));
    await calling(body, [toolOf("leaf", execute, { concurrency })]);
    assert.deepEqual(order.slice(4, 6), ["x in", "x out"]);
    assert.deepEqual(order.slice(0, 2).concat(order.slice(6, 8)), ["s1 in", "s2 in", "s3 in", "s4 in"]);
  });

  test("NC-64 BL-057 a chain of exclusive calls ends, level after level", async () => {
    const leaf = leafOf("leaf", () => "deep", { concurrency: "exclusive" });
    const down = (id, next) =>
      toolOf(
        id,
        async (_input, { callTool }) =>
          (await Promise.all([callTool(next), callTool(next)])).map((one) => one.text).join(),
        { concurrency: "exclusive" },
      );
    const { returned } = await calling(
      async ({ callTool }) => (await callTool("middle")).text,
      [down("middle", "lower"), down("lower", "leaf"), leaf.tool],
    );
    assert.deepEqual([returned, leaf.runs.length], ["deep,deep,deep,deep", 4]);
  });

  test("NC-65 BL-057 below a shared call an exclusive one is refused, before it starts, and counted", async () => {
    const leaf = leafOf("leaf", undefined, { concurrency: "exclusive" });
    const middle = leafOf("middle", async (_input, { callTool }) => {
      const answers = [];
      for (let n = 0; n < 9; n += 1) answers.push(await refusal(callTool("leaf")));
      return JSON.stringify(answers);
    });
    const { returned, events, result } = await calling(
      async ({ callTool }) => JSON.parse((await callTool("middle")).text),
      [middle.tool, leaf.tool],
    );
    const [first, ninth] = [returned[0], returned[8]];
    assert.equal(first[0], "TOOL_FAILED");
    assert.match(first[1], /not concurrency-safe/);
    assert.match(first[1], /shared nested-call gate/);
    assert.match(ninth[1], /already had 8 nested calls refused/);
    assert.deepEqual(
      callLines(events).filter((line) => line.startsWith("started")),
      ["started p1", "started p1/1"],
    );
    assert.deepEqual([leaf.runs.length, result.record.budget.used.nestedCalls], [0, 1]);
  });

  test("NC-65 below a shared call a shared one runs, and below an exclusive one both do", async () => {
    for (const [outer, inner] of [
      ["shared", "shared"],
      ["exclusive", "shared"],
      ["exclusive", "exclusive"],
    ]) {
      const leaf = leafOf("leaf", undefined, { concurrency: inner });
      const middle = leafOf("middle", (_input, { callTool }) => callTool("leaf").then((result) => result.text), {
        concurrency: outer,
      });
      const { returned } = await calling(
        async ({ callTool }) => (await callTool("middle")).text,
        [middle.tool, leaf.tool],
      );
      assert.equal(returned, "leaf-out");
    }
  });

  test("NC-66 one wrap layer that is not concurrency-safe makes every nested call exclusive", async () => {
    const wrap = (concurrentSafe) =>
      defineMiddleware({ name: "wrap", concurrentSafe, wrapTool: (_context, _call, next) => next() });
    const shared = { concurrency: "shared" };
    assert.equal(await peakOf(shared, { keel: { middleware: [wrap(undefined), wrap(false)] } }), 1);
    assert.equal(await peakOf(shared, { keel: { middleware: [wrap(undefined), wrap(true)] } }), 4);
    const idle = defineMiddleware({ name: "idle", concurrentSafe: false, observeNestedResult: () => {} });
    assert.equal(await peakOf(shared, { keel: { middleware: [idle] } }), 4);
  });

  test("NC-70 D-19 the wait for a gate or a slot is no part of a tool's own time-out", async () => {
    for (const [concurrency, maxToolConcurrency] of [
      ["exclusive", undefined],
      ["shared", 1],
    ]) {
      const clock = virtualClock();
      const execute = () => new Promise((resolve) => clock.setTimer(clock.now() + 40, () => resolve("in time")));
      const leaf = leafOf("leaf", execute, { concurrency, timeoutMs: 50 });
      const body = ({ callTool }) => Promise.all(Array.from({ length: 4 }, () => callTool("leaf")));
      const { returned } = await calling(body, [leaf.tool], {
        keel: { clock, limits: { maxToolConcurrency } },
        meanwhile: () => clock.advance(200),
      });
      assert.deepEqual([returned.map(({ text: out }) => out), clock.now()], [Array(4).fill("in time"), 200]);
    }
  });

  test("NC-62 a call that is abandoned in the queue leaves it", async () => {
    const held = deferred();
    const leaf = leafOf("leaf", ({ hold }) => (hold ? held.promise : "ok"), { concurrency: "exclusive" });
    const body = async ({ callTool }) => {
      const stop = new AbortController();
      const first = callTool("leaf", { hold: true });
      const second = callTool("leaf", { n: 2 }, { signal: stop.signal });
      const third = callTool("leaf", { n: 3 });
      await immediate();
      stop.abort();
      await refusal(second);
      held.resolve("first");
      return [(await first).text, (await third).text];
    };
    const { returned, events, result } = await calling(body, [leaf.tool]);
    assert.deepEqual(
      [returned, leaf.runs],
      [
        ["first", "ok"],
        [{ hold: true }, { n: 3 }],
      ],
    );
    assert.deepEqual(
      callLines(events).filter((line) => line.endsWith("p1/2")),
      ["started p1/2", "failed p1/2"],
    );
    assert.equal(result.record.budget.used.nestedCalls, 2, "what never ran cost nothing");
  });
});

describe("the model's calls of one step", () => {
  const step = (...ids) => [ids.map((id, index) => issue(id, {}, `c${index}`)), text("done")];

  test("D-10 start together, except explicitly exclusive ones, which keep their order", async () => {
    for (const [concurrency, peak] of [
      [undefined, 3],
      ["shared", 3],
      ["exclusive", 1],
    ]) {
      const live = overlap();
      const { result } = await calling(() => {}, [slowOf(live, "leaf", { concurrency })], {
        script: step("leaf", "leaf", "leaf"),
      });
      assert.deepEqual([live.peak, result.outcome.status], [peak, "completed"]);
    }
  });

  test("D-10 an exclusive one runs next to the others; a sequential step runs nothing together", async () => {
    for (const [toolExecution, peak] of [
      ["parallel", 2],
      ["sequential", 1],
    ]) {
      const live = overlap();
      const tools = [slowOf(live, "leaf"), slowOf(live, "alone", { concurrency: "exclusive" })];
      await calling(() => {}, tools, { script: step("alone", "leaf", "alone"), agent: { limits: { toolExecution } } });
      assert.equal(live.peak, peak);
    }
  });

  test("BL-061 the same tool twice in one step runs twice, results in order", async () => {
    const search = leafOf("search", ({ q }) => `found ${q}`);
    const script = [[issue("search", { q: "X" }, "c1"), issue("search", { q: "Y" }, "c2")], text("done")];
    const { outputs } = await calling(() => {}, [search.tool], { script });
    assert.deepEqual(
      outputs.map(({ value }) => value),
      ["found X", "found Y"],
    );
  });

  test("BL-053 BL-054 one that fails hurts no other: results in request order", async () => {
    const batch = Array.from({ length: 27 }, (_, n) => issue("leaf", { n }, `c${n}`));
    const leaf = leafOf("leaf", async ({ n }) => {
      for (let round = 0; round < (n * 7) % 5; round += 1) await immediate();
      if (n === 13) throw new Error("harmless");
      return `ok ${n}`;
    });
    const { outputs, result } = await calling(() => {}, [leaf.tool], { script: [batch, text("done")] });
    assert.deepEqual(
      outputs.map(({ value }) => value),
      batch.map((_, n) => (n === 13 ? "tool dispatch failed" : `ok ${n}`)),
    );
    assert.equal(result.outcome.status, "completed");
  });

  test("BL-060 BL-059 one agent in three runs at once keeps three transcripts", async () => {
    const leaf = leafOf("leaf", async ({ n }) => (await immediate(), n));
    const agent = agentOf(
      {
        id: "m",
        generate: async ({ messages }) => ({
          content:
            messages.length === 1
              ? [{ type: "tool-call", toolCallId: "call_0", toolName: "leaf", input: { n: messages[0].content } }]
              : "done",
        }),
      },
      { tools: [leaf.tool] },
    );
    const keel = createKeel();
    const results = await Promise.all(
      ["a", "b", "c"].map((input) => keel.run(agent, input, { identity: { id: "same" } })),
    );
    for (const [index, { record, turnId }] of results.entries()) {
      assert.deepEqual(
        record.transcript.map(({ role }) => role),
        ["user", "assistant", "tool", "assistant"],
      );
      assert.equal(record.transcript[2].content[0].output.value, "abc"[index]);
      assert.equal(turnId, record.turnId);
    }
  });
});
