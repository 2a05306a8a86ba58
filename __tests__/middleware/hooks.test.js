import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, defineMiddleware, humanApproval, KeelError, toolError } from "../../js/index.js";
import { text, virtualClock } from "../../js/testing/index.js";
import { callLines, calling, issue, leafOf, refusal } from "../scenes/calling.js";
import { agentOf, toolOf } from "../scenes/small-agents.js";

const thrower = (error) => () => {
  throw error;
};

/** What becomes of a call of the model, and of a nested one, with this admission hook; and how often the body ran. */
async function admission(hook) {
  const { tool, runs } = leafOf();
  const guard = defineMiddleware({ name: "guard", beforeTool: hook, checkNestedTool: hook });
  const check = defineMiddleware({ name: "guard", checkNestedTool: hook });
  const script = [issue("leaf"), text("done")];
  const issued = await calling(() => {}, [tool], { script, keel: { middleware: [guard] } });
  const nested = await calling(({ callTool }) => refusal(callTool("leaf")), [tool], { keel: { middleware: [check] } });
  return { runs: runs.length, issued, nested };
}

describe("an admission hook", () => {
  test("D-16 BL-076 refuses by a throw, a rejection or an answer that it cannot mean; the body is not entered", async () => {
    const hooks = [
      [thrower(new Error("boom")), "boom"],
      [() => Promise.reject(new TypeError("boom")), "boom"],
      [thrower("a text"), "a text"],
      [() => true, "middleware 'guard': expected STAGE to return undefined or { deny }, found true"],
      [() => false, "middleware 'guard': expected STAGE to return undefined or { deny }, found false"],
      [() => null, "middleware 'guard': expected STAGE to return undefined or { deny }, found null"],
      [async () => "allow", "middleware 'guard': expected STAGE to return undefined or { deny }, found "],
      [() => ({ allow: true }), "middleware 'guard': expected STAGE to return undefined or { deny }, found "],
    ];
    for (const [hook, why] of hooks) {
      const { runs, issued, nested } = await admission(hook);
      assert.equal(runs, 0);
      const [code, message] = nested.returned;
      assert.equal(code, "TOOL_FAILED");
      assert.ok(message.startsWith(`nested call 'leaf' refused: ${why.replace("STAGE", "checkNestedTool")}`), message);
      const read = issued.outputs[0];
      assert.equal(read.type, "error-text");
      assert.ok(read.value.startsWith(`call 'leaf' refused: ${why.replace("STAGE", "beforeTool")}`), read.value);
      assert.deepEqual(callLines(issued.events), ["refused p1"]);
      assert.equal(issued.result.outcome.status, "completed");
    }
  });

  test("D-16 admits by undefined, at once or later", async () => {
    for (const hook of [() => {}, async () => {}]) {
      const { tool, runs } = leafOf();
      const guard = defineMiddleware({ name: "guard", beforeTool: hook, checkNestedTool: hook });
      const { result } = await calling(({ callTool }) => callTool("leaf"), [tool], { keel: { middleware: [guard] } });
      assert.deepEqual([result.outcome.status, runs.length], ["completed", 1]);
    }
  });

  test("D-16 BL-076 that hangs refuses after hookTimeoutMs, not a millisecond before", async () => {
    for (const stage of ["beforeTool", "checkNestedTool"]) {
      const clock = virtualClock();
      const { tool, runs } = leafOf();
      const aborted = [];
      const hang = (context) => new Promise(() => context.signal.addEventListener("abort", () => aborted.push(stage)));
      const guard = defineMiddleware({ name: "guard", nested: "exempt", [stage]: hang });
      const script = [issue(stage === "beforeTool" ? "leaf" : "caller"), text("done")];
      const isOver = { now: false };
      const { returned, outputs, result } = await calling(({ callTool }) => refusal(callTool("leaf")), [tool], {
        script,
        keel: { clock, middleware: [guard], limits: { hookTimeoutMs: 1_000 } },
        async meanwhile() {
          await clock.advance(999);
          isOver.now = aborted.length > 0;
          await clock.advance(1);
        },
      });
      assert.deepEqual([isOver.now, aborted, runs.length, result.outcome.status], [false, [stage], 0, "completed"]);
      const said = stage === "beforeTool" ? outputs[0].value : returned[1];
      assert.match(said, /call 'leaf' refused: .*1000/);
    }
  });

  test("D-16 limits.hookTimeoutMs is 30,000 unless told otherwise", async () => {
    const clock = virtualClock();
    const guard = defineMiddleware({ name: "guard", checkNestedTool: () => new Promise(() => {}) });
    let settledAt;
    await calling(
      async ({ callTool }) => {
        await refusal(callTool("leaf"));
        settledAt = clock.now();
      },
      [leafOf().tool],
      { keel: { clock, middleware: [guard] }, meanwhile: () => clock.advance(60_000) },
    );
    assert.equal(settledAt, 30_000);
  });

  test("D-16 runs in the order keel, run, agent, and the first refusal ends it", async () => {
    const told = [];
    const layer = (name, refuses) => {
      const hook =
        (stage) =>
        (_context, { toolId }) => {
          told.push(`${name} ${stage} ${toolId}`);
          if (refuses && toolId === "leaf") throw new Error("no");
        };
      return defineMiddleware({ name, beforeTool: hook("before"), checkNestedTool: hook("check") });
    };
    for (const [refuses, expected] of [
      [false, ["k1 check leaf", "k2 check leaf", "r check leaf", "a check leaf"]],
      [true, ["k1 check leaf", "k2 check leaf", "r check leaf"]],
    ]) {
      told.length = 0;
      await calling(({ callTool }) => callTool("leaf").catch(() => {}), [leafOf().tool], {
        keel: { middleware: [layer("k1"), layer("k2")] },
        run: { middleware: [layer("r", refuses)] },
        agent: { middleware: [layer("a")] },
      });
      assert.deepEqual(
        told.slice(0, 4),
        ["k1", "k2", "r", "a"].map((name) => `${name} before caller`),
      );
      assert.deepEqual(told.slice(4), expected);
    }
  });

  test("D-16 one that leaves the call to a human does not spare it the others", async () => {
    const asked = [];
    const approve = ({ toolId }) => (asked.push(toolId), "allow");
    const deny = (_context, { toolId }) => (toolId === "leaf" ? { deny: "never" } : undefined);
    const guard = defineMiddleware({ name: "guard", beforeTool: deny, checkNestedTool: deny });
    const { tool, runs } = leafOf();
    const script = [issue("leaf"), text("done")];
    for (const middleware of [
      [humanApproval({ tools: ["leaf"] }), guard],
      [guard, humanApproval({ tools: ["leaf"] })],
    ]) {
      const { outputs, result } = await calling(() => {}, [tool], { script, keel: { middleware, approve } });
      assert.deepEqual([outputs[0].value, result.outcome.status, runs.length, asked], ["never", "completed", 0, []]);
    }
    const nested = await calling(({ callTool }) => refusal(callTool("leaf")), [tool], {
      keel: { middleware: [humanApproval({ tools: ["leaf"] }), guard] },
    });
    assert.deepEqual(nested.returned, [
      "TOOL_FAILED",
      "nested call 'leaf' requires approval; nested calls cannot be deferred",
    ]);
  });

  test("D-16 one cannot change what the others, the gate and the body see of a call", async () => {
    const seen = [];
    const forge = (_context, call) => {
      for (const change of [() => (call.toolId = "other"), () => (call.args.n = 2), () => (call.args.deep.n = 2)]) {
        try {
          change();
        } catch {}
      }
    };
    const look = (_context, { toolId, args }) => void seen.push([toolId, args]);
    const both = (name, hook) => defineMiddleware({ name, beforeTool: hook, checkNestedTool: hook });
    const { tool, runs } = leafOf();
    await calling(({ callTool }) => callTool("leaf", { n: 1, deep: { n: 1 } }), [tool], {
      keel: {
        middleware: [both("forge", forge), both("look", look)],
        security: { authorizeTool: (call) => (look(undefined, call), forge(undefined, call), true) },
      },
    });
    const sent = { n: 1, deep: { n: 1 } };
    assert.deepEqual(seen.slice(2), [
      ["leaf", sent],
      ["leaf", sent],
    ]);
    assert.deepEqual(runs, [sent]);
  });

  test("D-16 once one took too long, those after it are not asked, whatever it says later", async () => {
    const clock = virtualClock();
    const asked = [];
    const late = defineMiddleware({
      name: "late",
      checkNestedTool: () => new Promise((resolve) => clock.setTimer(clock.now() + 2_000, resolve)),
    });
    const next = defineMiddleware({ name: "next", checkNestedTool: (_context, { callId }) => void asked.push(callId) });
    const body = async ({ callTool }) => {
      await refusal(callTool("leaf"));
      await new Promise((resolve) => clock.setTimer(clock.now() + 5_000, resolve));
    };
    await calling(body, [leafOf().tool], {
      keel: { clock, middleware: [late, next], limits: { hookTimeoutMs: 1_000 } },
      meanwhile: () => clock.advance(10_000),
    });
    assert.deepEqual(asked, []);
  });

  test("BL-069 D-18 those of keel and run bind the calls of children, nested or not; an agent's own bind that agent alone", async () => {
    const seen = [];
    const layer = (name) => {
      const hook = (_context, { toolId }) => void seen.push(`${name} ${toolId}`);
      return defineMiddleware({ name, beforeTool: hook, checkNestedTool: hook });
    };
    const { tool } = leafOf();
    const inner = toolOf("inner", (_input, { callTool }) => callTool("leaf").then(({ text: out }) => out));
    const child = agentOf([issue("inner"), text("child done")], {
      id: "child",
      tools: [inner, tool],
      middleware: [layer("c")],
    });
    const parent = agentOf([issue("run-child", { brief: "x" }), text("done")], {
      id: "parent",
      tools: [asTool(child)],
      middleware: [layer("p")],
    });
    const keel = createKeel({ limits: { maxNestedDepth: 1 }, middleware: [layer("k")] });
    await keel.run(parent, "go", { middleware: [layer("r")] });
    assert.deepEqual(
      seen,
      ["k", "r", "p"]
        .map((name) => `${name} run-child`)
        .concat(["inner", "leaf"].flatMap((id) => ["k", "r", "c"].map((name) => `${name} ${id}`))),
    );
  });
});

describe("a custom check", () => {
  test("NC-47 an interrupt is an approval refusal, anything else says what refused", async () => {
    for (const [error, expected] of [
      [
        new KeelError("APPROVAL_REQUIRED", "ask somebody"),
        ["TOOL_FAILED", "nested call 'leaf' requires approval; nested calls cannot be deferred"],
      ],
      [new Error("plain"), ["TOOL_FAILED", "nested call 'leaf' refused: plain"]],
      [new KeelError("VALIDATION", "odd"), ["TOOL_FAILED", "nested call 'leaf' refused: odd"]],
      [new KeelError("TOOL_FAILED", "exactly this"), ["TOOL_FAILED", "exactly this"]],
      [toolError("exactly that"), ["TOOL_FAILED", "exactly that"]],
      [new KeelError("CANCELLED", "cancelled"), ["CANCELLED", "cancelled"]],
      [new KeelError("TIMEOUT", "late"), ["TIMEOUT", "late"]],
    ]) {
      const guard = defineMiddleware({ name: "guard", checkNestedTool: thrower(error) });
      const { tool, runs } = leafOf();
      const { returned, result } = await calling(({ callTool }) => refusal(callTool("leaf")), [tool], {
        keel: { middleware: [guard] },
      });
      assert.deepEqual([returned, runs.length, result.outcome.status], [expected, 0, "completed"]);
    }
  });

  test("NC-47 { deny } is answered exactly", async () => {
    const guard = defineMiddleware({ name: "guard", checkNestedTool: () => ({ deny: "not today" }) });
    const { returned } = await calling(({ callTool }) => refusal(callTool("leaf")), [leafOf().tool], {
      keel: { middleware: [guard] },
    });
    assert.deepEqual(returned, ["TOOL_FAILED", "not today"]);
  });

  test("NC-48 sees the prepared arguments; after the first refusal nobody else is asked", async () => {
    const asked = [];
    const seen = (name, then) =>
      defineMiddleware({ name, checkNestedTool: (_context, call) => (asked.push([name, call]), then?.()) });
    const authorizeTool = (request) => (asked.push(["gate", request]), true);
    const { tool } = leafOf("leaf", undefined, { injects: [{ name: "id", from: "toolCallId" }] });
    for (const [first, names] of [
      [thrower(new Error("no")), ["one"]],
      [undefined, ["one", "two", "gate"]],
    ]) {
      asked.length = 0;
      const { agent } = await calling(
        ({ callTool }) => callTool("leaf", { n: 1, id: "forged" }).catch(() => {}),
        [tool],
        {
          keel: {
            middleware: [seen("one", first), seen("two")],
            security: { authorizeTool: (request) => request.toolId === "caller" || authorizeTool(request) },
          },
        },
      );
      assert.deepEqual(
        asked.map(([name]) => name),
        names,
      );
      const { toolId, callId, parentCallId, args, level, agentId } = asked[0][1];
      assert.deepEqual(
        [toolId, callId, parentCallId, args, level, agentId],
        ["leaf", "p1/1", "p1", { n: 1, id: "p1/1" }, 1, agent.id],
      );
    }
  });
});
