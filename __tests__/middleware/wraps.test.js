import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, test } from "node:test";

import { asTool, createKeel, defineMiddleware, KeelError, toolResult } from "../../js/index.js";
import { text } from "../../js/testing/index.js";
import { callLines, calling, failed, issue, leafOf, summaryOf } from "../scenes/calling.js";
import { agentOf, ofType, toolOf } from "../scenes/small-agents.js";

const wrapOf = (wrapTool, rest = {}) => defineMiddleware({ name: "wrap", wrapTool, ...rest });
/** Wraps calls to one tool. */
const around = (id, wrapTool, rest) =>
  wrapOf((context, call, next) => (call.toolId === id ? wrapTool(context, call, next) : next()), rest);

describe("a wrap layer", () => {
  test("the first is the outermost: keel, run, agent", async () => {
    const order = [];
    const layer = (name) =>
      around("leaf", async (_context, _call, next) => {
        order.push(`${name} in`);
        const result = await next();
        order.push(`${name} out`);
        return { ...result, text: `${name}(${result.text})` };
      });
    const { returned } = await calling(({ callTool }) => callTool("leaf"), [leafOf().tool], {
      keel: { middleware: [layer("k")] },
      run: { middleware: [layer("r")] },
      agent: { middleware: [layer("a")] },
    });
    assert.equal(returned.text, "k(r(a(leaf-out)))");
    assert.deepEqual(order, ["k in", "r in", "a in", "a out", "r out", "k out"]);
  });

  test("that skips next() answers in the tool's place", async () => {
    const { tool, runs } = leafOf();
    const deny = around("leaf", () => ({ isError: true, text: "denied here" }));
    const { returned } = await calling(({ callTool }) => callTool("leaf"), [tool], { keel: { middleware: [deny] } });
    assert.deepEqual([returned.isError, returned.text, runs.length], [true, "denied here", 0]);
  });

  test("may rewrite the arguments, not which tool runs; the event keeps what was sent", async () => {
    const { tool, runs } = leafOf();
    const other = leafOf("other");
    const rewrite = around("leaf", (_context, _call, next) => next({ args: { n: 2 }, toolId: "other" }));
    const { events } = await calling(({ callTool }) => callTool("leaf", { n: 1 }), [tool, other.tool], {
      keel: { middleware: [rewrite], capture: { toolIo: true } },
    });
    assert.deepEqual([runs, other.runs], [[{ n: 2 }], []]);
    assert.deepEqual(events.find(({ type, callId }) => type === "tool.started" && callId === "p1/1").input, { n: 1 });
  });

  test("NC-52 that runs next() twice goes on counting: ids p1/1 and p1/2, two summary entries", async () => {
    let calls = 0;
    const again = around("caller", async (_context, _call, next) => (await next(), next()));
    const ids = [];
    const leaf = leafOf("leaf", (_input, { callId }) => ids.push(callId));
    const { events } = await calling(({ callTool }) => ((calls += 1), callTool("leaf")), [leaf.tool], {
      keel: { middleware: [again] },
    });
    assert.deepEqual([calls, ids], [2, ["p1/1", "p1/2"]]);
    assert.deepEqual(
      summaryOf(events).map(({ id, status }) => [id, status]),
      [
        ["p1/1", "ok"],
        ["p1/2", "ok"],
      ],
    );
    assert.deepEqual(
      callLines(events).filter((line) => line.endsWith(" p1")),
      ["started p1", "completed p1"],
    );
  });

  test("NC-52 NC-53 its retries share one refusal cap", async () => {
    const again = around("caller", async (_context, _call, next) => (await next(), next()));
    const messages = [];
    const body = async ({ callTool }) => {
      for (let n = 0; n < 5; n += 1) messages.push((await failed(callTool("ghost"))).message);
    };
    await calling(body, [], { keel: { middleware: [again] } });
    assert.deepEqual(
      messages.map((message) => message === "tool not found: ghost"),
      Array.from({ length: 10 }, (_, n) => n < 8),
    );
  });

  test("NC-56 one that raises APPROVAL_REQUIRED is an approval refusal: 8, then the cap", async () => {
    const { tool, runs } = leafOf();
    const ask = around("leaf", () => {
      throw new KeelError("APPROVAL_REQUIRED", "ask");
    });
    const body = async ({ callTool }) => {
      const messages = [];
      for (let n = 0; n < 10; n += 1) messages.push((await failed(callTool("leaf"))).message);
      return messages;
    };
    const { returned, events, result } = await calling(body, [tool], { keel: { middleware: [ask] } });
    const approval = "nested call 'leaf' requires approval; nested calls cannot be deferred";
    const capped = "nested call 'leaf' refused: tool call 'p1' already had 8 nested calls refused";
    assert.deepEqual(returned, [...Array(8).fill(approval), capped, capped]);
    assert.equal(ofType(events, "tool.failed").length, 8);
    assert.equal(ofType(events, "tool.refused").length, 2);
    assert.deepEqual([runs.length, result.record.budget.used.nestedCalls, result.outcome.status], [0, 8, "completed"]);
  });

  test("NC-35 what its tool throws passes through it; the caller gets the very object as the cause", async () => {
    const secret = new Error("secret");
    const raising = leafOf("leaf", () => {
      throw secret;
    });
    let seen;
    const passing = around("leaf", async (_context, _call, next) => {
      try {
        return await next();
      } catch (error) {
        seen = error;
        throw error;
      }
    });
    const { returned } = await calling(({ callTool }) => failed(callTool("leaf")), [raising.tool], {
      keel: { middleware: [passing] },
    });
    assert.deepEqual([seen.code, seen.message, seen.cause], ["TOOL_ERROR", "tool dispatch failed", secret]);
    assert.deepEqual([returned.code, returned.message, returned.cause], ["TOOL_ERROR", "tool dispatch failed", secret]);
  });

  test("NC-72 what a child or a wrap layer says about the flow of the run is ignored", async () => {
    const controls = [
      { terminate: true },
      { goto: "end" },
      { returnDirect: true },
      { terminate: true, goto: "tools", returnDirect: true },
    ];
    for (const control of controls) {
      const flow = leafOf("leaf", () => toolResult({ text: "leaf-out", control }));
      const command = around("leaf", async (_context, _call, next) => ({ ...(await next()), control }));
      const { returned, result, agent } = await calling(({ callTool }) => callTool("leaf"), [flow.tool], {
        keel: { middleware: [command] },
      });
      assert.deepEqual(
        [returned.text, result.outcome.status, agent.model.requests.length],
        ["leaf-out", "completed", 2],
      );
    }
  });

  test("NC-72 one that returns nothing gives an empty result", async () => {
    const nothing = around("leaf", async (_context, _call, next) => void (await next()));
    const { returned } = await calling(({ callTool }) => callTool("leaf"), [leafOf().tool], {
      keel: { middleware: [nothing] },
    });
    assert.deepEqual([returned.isError, returned.text], [false, ""]);
  });

  test("one whose answer is no result fails its call alone", async () => {
    for (const odd of [5, "text", null, { isError: "yes" }]) {
      const { returned, result } = await calling(({ callTool }) => callTool("leaf"), [leafOf().tool], {
        keel: { middleware: [around("leaf", () => odd)] },
      });
      assert.deepEqual([returned.isError, result.outcome.status], [true, "completed"]);
      assert.match(returned.text, /^middleware around tool 'leaf': expected a ToolResult, found /);
    }
  });

  test("its next() after it has settled is refused, and runs nothing", async () => {
    const { tool, runs } = leafOf();
    let retained;
    const keep = around("leaf", (_context, _call, next) => ((retained = next), { text: "early" }));
    await calling(({ callTool }) => callTool("leaf"), [tool], { keel: { middleware: [keep] } });
    const { code, message } = await failed(retained());
    assert.deepEqual([code, runs.length], ["TOOL_FAILED", 0]);
    assert.match(message, /already settled/);
  });
});

describe("async context", () => {
  const als = new AsyncLocalStorage();
  const hookOf =
    (seen) =>
    (stage) =>
    (_context, { toolId }) =>
      void seen.push(`${stage} ${toolId}: ${als.getStore()}`);

  test("D-37 hooks and bodies of nested calls run in the context of their callTool()", async () => {
    const seen = [];
    const hook = hookOf(seen);
    const layer = defineMiddleware({
      name: "layer",
      beforeTool: hook("before"),
      afterTool: hook("after"),
      checkNestedTool: hook("check"),
      observeNestedResult: hook("observe"),
    });
    const leaf = leafOf("leaf", () => void seen.push(`leaf: ${als.getStore()}`));
    const caller = toolOf("caller", async (_input, { callTool }) => {
      seen.push(`caller: ${als.getStore()}`);
      await als.run("inner", () => callTool("leaf"));
    });
    const authorizeTool = ({ toolId }) => (seen.push(`gate ${toolId}: ${als.getStore()}`), true);
    const agent = agentOf([issue(), text("done")], { tools: [caller, leaf.tool] });
    const keel = als.run("made", () =>
      createKeel({ limits: { maxNestedDepth: 1 }, middleware: [layer], security: { authorizeTool } }),
    );
    await als.run("outer", () => keel.run(agent, "go"));
    assert.deepEqual(seen, [
      "before caller: outer",
      "gate caller: outer",
      "caller: outer",
      "check leaf: inner",
      "gate leaf: inner",
      "leaf: inner",
      "observe leaf: inner",
      "after caller: outer",
    ]);
  });

  test("D-37 a body runs in the context of the layer that called next(), and so do the calls and children below it", async () => {
    const seen = [];
    const child = agentOf([issue("deep"), text("child done")], {
      id: "child",
      tools: [toolOf("deep", () => void seen.push(`deep: ${als.getStore()}`))],
    });
    const leaf = leafOf("leaf", () => void seen.push(`leaf: ${als.getStore()}`));
    const caller = toolOf("caller", async (_input, { callTool }) => {
      seen.push(`caller: ${als.getStore()}`);
      await callTool("leaf");
      await als.run("delegating", () => callTool("run-child", { brief: "x" }));
    });
    const layer = wrapOf((_context, { toolId }, next) =>
      toolId === "caller" ? als.run("layer", () => next()) : next(),
    );
    const agent = agentOf([issue(), text("done")], { tools: [caller, leaf.tool, asTool(child)] });
    const keel = createKeel({ limits: { maxNestedDepth: 1 }, middleware: [layer] });
    await als.run("outer", () => keel.run(agent, "go"));
    assert.deepEqual(seen, ["caller: layer", "leaf: layer", "deep: delegating"]);
  });

  test("D-37 two runs at once keep their contexts apart", async () => {
    const seen = new Set();
    const leaf = leafOf("leaf", () => void seen.add(als.getStore()));
    const caller = toolOf("caller", (_input, { callTool }) => callTool("leaf"));
    const keel = createKeel({ limits: { maxNestedDepth: 1 } });
    const names = ["one", "two", "three"];
    await Promise.all(
      names.map((name) =>
        als.run(name, () => keel.run(agentOf([issue(), text("done")], { tools: [caller, leaf.tool] }), "go")),
      ),
    );
    assert.deepEqual([...seen].toSorted(), names.toSorted());
  });
});

test("a layer that does not wait for what is inside of it leaves no unhandled rejection", async () => {
  const unhandled = [];
  const note = (reason) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  const hasty = wrapOf(async (_context, _call, next) => {
    next();
    return toolResult({ text: "cached" });
  });
  const slow = toolOf("slow", () => new Promise(() => {}));
  const { result, outputs } = await calling(() => "called", [slow], {
    keel: { middleware: [hasty] },
    script: [issue("slow"), text("done")],
  });
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  assert.deepEqual([result.outcome.status, outputs[0].value, unhandled], ["completed", "cached", []]);
});
