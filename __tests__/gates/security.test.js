import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, defineAgent, KeelError } from "../../js/index.js";
import { text, virtualClock } from "../../js/testing/index.js";
import { callLines, calling, issue, leafOf, refusal } from "../scenes/calling.js";
import { agentOf, ofType, toolOf } from "../scenes/small-agents.js";

/** What one nested call to `leaf` comes to with this `security`; the caller is let through. */
async function hosted(security, rest = {}) {
  const { tool, runs } = leafOf("leaf", undefined, rest.leaf);
  const body = ({ callTool }) =>
    callTool("leaf", rest.args ?? {}).then(
      (result) => result.text,
      ({ code, message }) => [code, message],
    );
  const { returned, result, events } = await calling(body, [tool], { keel: { security, ...rest.keel } });
  assert.equal(result.outcome.status, "completed");
  assert.equal(runs.length, returned === "leaf-out" ? 1 : 0);
  return { returned, runs, events, result };
}

const forLeaf = (verdict) => ({ authorizeTool: ({ toolId }) => (toolId === "caller" ? true : verdict()) });
const denied = (reason) => ["TOOL_FAILED", `nested call 'leaf' denied: ${reason}`];

describe("authorizeTool", () => {
  test("NC-49 is told who calls, the arguments as sent, and that the call is nested", async () => {
    const asked = [];
    const authorizeTool = (request) => (asked.push(request), true);
    await hosted(
      { authorizeTool },
      { args: { n: 1, key: "forged" }, leaf: { injects: [{ name: "key", from: "toolCallId" }] } },
    );
    const [issued, nested] = asked;
    assert.deepEqual(
      [issued.toolId, issued.callId, issued.isNested, "parentCallId" in issued],
      ["caller", "p1", false, false],
    );
    assert.deepEqual(
      [nested.toolId, nested.callId, nested.parentCallId, nested.isNested, nested.args, nested.agentId],
      ["leaf", "p1/1", "p1", true, { n: 1, key: "forged" }, "agent"],
    );
  });

  test("NC-49 D-17 admits by true, { allow: true } and { prompted: true } alone", async () => {
    for (const verdict of [true, { allow: true }, { prompted: true }]) {
      assert.equal((await hosted(forLeaf(() => verdict))).returned, "leaf-out");
      assert.equal((await hosted(forLeaf(async () => verdict))).returned, "leaf-out");
    }
  });

  test("NC-49 D-17 refuses with the reason that it gives", async () => {
    assert.deepEqual((await hosted(forLeaf(() => ({ deny: "r" })))).returned, denied("r"));
    assert.deepEqual((await hosted(forLeaf(() => ({ allow: false, deny: "r" })))).returned, denied("r"));
  });

  test("NC-49 D-17 BL-076 anything else refuses with the default reason", async () => {
    const odd = [
      undefined,
      null,
      false,
      1,
      "allow",
      "true",
      {},
      { allow: "yes" },
      { allow: 1 },
      { prompted: false },
      { prompted: "yes" },
      [],
      () => true,
    ];
    for (const verdict of odd) {
      assert.deepEqual((await hosted(forLeaf(() => verdict))).returned, denied("tool call was not approved"));
    }
  });

  test("D-17 a deny next to an allow denies", async () => {
    assert.deepEqual((await hosted(forLeaf(() => ({ allow: true, deny: "r" })))).returned, denied("r"));
    assert.deepEqual((await hosted(forLeaf(() => ({ prompted: true, deny: "r" })))).returned, denied("r"));
  });

  test("NC-49 D-17 a throw or a rejection refuses, with the error passed on", async () => {
    const failures = [
      [new Error("gate down"), ["TOOL_FAILED", "nested call 'leaf' refused: gate down"]],
      [new KeelError("TOOL_FAILED", "exactly this"), ["TOOL_FAILED", "exactly this"]],
    ];
    for (const [error, expected] of failures) {
      const thrown = forLeaf(() => {
        throw error;
      });
      assert.deepEqual((await hosted(thrown)).returned, expected);
      assert.deepEqual((await hosted(forLeaf(() => Promise.reject(error)))).returned, expected);
    }
  });

  test("D-16 BL-076 one that hangs refuses after hookTimeoutMs", async () => {
    const clock = virtualClock();
    const at = [];
    const { tool, runs } = leafOf();
    const body = async ({ callTool }) => [await refusal(callTool("leaf")), at.push(clock.now())];
    const { returned } = await calling(body, [tool], {
      keel: { clock, security: forLeaf(() => new Promise(() => {})), limits: { hookTimeoutMs: 1_000 } },
      meanwhile: () => clock.advance(5_000),
    });
    assert.equal(returned[0][0], "TOOL_FAILED");
    assert.match(returned[0][1], /^nested call 'leaf' refused: .*1000/);
    assert.deepEqual([at, runs.length], [[1_000], 0]);
  });

  test("D-17 binds the model's calls too; a refusal there has no start, and the turn goes on", async () => {
    const { tool, runs } = leafOf();
    const script = [issue("leaf"), text("done")];
    for (const [verdict, expected] of [
      [{ deny: "r" }, "call 'leaf' denied: r"],
      [undefined, "call 'leaf' denied: tool call was not approved"],
    ]) {
      const { outputs, events, result } = await calling(() => {}, [tool], {
        script,
        keel: { security: { authorizeTool: () => verdict } },
      });
      assert.deepEqual(outputs, [{ type: "error-text", value: expected }]);
      assert.deepEqual(
        [callLines(events), result.outcome.status, result.record.budget.used.toolCalls],
        [["refused p1"], "completed", 0],
      );
    }
    assert.equal(runs.length, 0);
  });

  test("D-17 absent, everything is admitted", async () => {
    assert.equal((await hosted({})).returned, "leaf-out");
  });

  test("BL-064 calls with one id in children at once are asked about apart, and each answer lands on its own call", async () => {
    const asked = [];
    const authorizeTool = async ({ toolId, callId, turnId, args }) => {
      if (toolId !== "work") return true;
      asked.push([callId, turnId]);
      await new Promise((resolve) => setImmediate(resolve));
      return args.who === "a" || { deny: "only a" };
    };
    const ran = [];
    const child = (who) =>
      agentOf([issue("work", { who }, "call_0"), text(who)], {
        id: `child-${who}`,
        tools: [toolOf("work", (input) => ran.push(input.who))],
      });
    const children = [child("a"), child("b")];
    const step = children.map(({ id }) => issue(`run-${id}`, { brief: "x" }, id));
    const parent = agentOf([step, text("done")], { id: "parent", tools: children.map((one) => asTool(one)) });
    await createKeel({ security: { authorizeTool } }).run(parent, "go");
    assert.deepEqual(
      [asked.map(([callId]) => callId), new Set(asked.map(([, turnId]) => turnId)).size, ran],
      [["call_0", "call_0"], 2, ["a"]],
    );
    assert.deepEqual(
      children
        .map(({ model }) => model.requests[1].messages.at(-1).content[0].output.value)
        .map((value) => /only a/.test(value)),
      [false, true],
    );
  });

  test("BL-070 that denies a delegation opens no child", async () => {
    const child = agentOf([text("never")], { id: "child" });
    const deny = { authorizeTool: ({ toolId }) => (toolId === "run-child" ? { deny: "no delegates" } : true) };
    const parent = agentOf([issue("run-child", { brief: "x" }), text("done")], {
      id: "parent",
      tools: [asTool(child)],
    });
    const keel = createKeel({ security: deny });
    const result = await keel.run(parent, "go");
    const events = await keel.records.events(result.turnId, { tree: true });
    assert.deepEqual([child.model.requests.length, ofType(events, "turn.started").length], [0, 1]);
    assert.deepEqual((await keel.records.tree(result.turnId)).children, []);
    const nested = await calling(({ callTool }) => refusal(callTool("run-child", { brief: "x" })), [asTool(child)], {
      keel: { security: deny },
    });
    assert.deepEqual(
      [nested.returned, child.model.requests.length],
      [["TOOL_FAILED", "nested call 'run-child' denied: no delegates"], 0],
    );
  });
});

describe("allowTools", () => {
  const notFound = ["TOOL_NOT_FOUND", "tool not found: leaf"];

  test("D-17 absent: no list; []: nothing, unless failClosed is false", async () => {
    assert.equal((await hosted({ failClosed: true })).returned, "leaf-out");
    assert.deepEqual((await hosted({ allowTools: ["caller"] })).returned, notFound);
    assert.equal((await hosted({ allowTools: ["caller", "leaf"] })).returned, "leaf-out");
    const script = [issue("leaf"), text("done")];
    for (const [security, ran] of [
      [{ allowTools: [] }, 0],
      [{ allowTools: [], failClosed: true }, 0],
      [{ allowTools: [], failClosed: false }, 1],
      [{ allowTools: ["other"], failClosed: false }, 0],
    ]) {
      const { tool, runs } = leafOf();
      const { outputs } = await calling(() => {}, [tool], { script, keel: { security } });
      assert.equal(runs.length, ran);
      if (!ran) assert.match(outputs[0].value, /^tool not found: leaf/);
    }
  });

  test("BL-072 a tool outside the list is not offered to the model, and not found by anybody, in children too", async () => {
    const b = leafOf("b");
    const seen = [];
    const a = toolOf("a", async (_input, { callTool }) => {
      seen.push(await refusal(callTool("b")), await refusal(callTool("parent-only")));
    });
    const child = agentOf([[issue("a"), issue("b", {}, "p2"), issue("parent-only", {}, "p3")], text("done")], {
      id: "child",
      tools: [a, b.tool],
    });
    const parent = agentOf([issue("run-child", { brief: "x" }), text("done")], {
      id: "parent",
      tools: [asTool(child), leafOf("parent-only").tool],
    });
    const security = { allowTools: ["run-child", "a", "parent-only"] };
    await createKeel({ security, limits: { maxNestedDepth: 1 } }).run(parent, "go");
    assert.deepEqual(
      child.model.requests[0].tools.map(({ name }) => name),
      ["a"],
    );
    assert.deepEqual(seen, [
      ["TOOL_NOT_FOUND", "tool not found: b"],
      ["TOOL_NOT_FOUND", "tool not found: parent-only"],
    ]);
    const outputs = child.model.requests[1].messages
      .at(-1)
      .content.map(({ output }) => String(output.value).split("\n")[0]);
    assert.deepEqual(outputs.slice(1), ["tool not found: b", "tool not found: parent-only"]);
    assert.equal(b.runs.length, 0);
  });
});

describe("access rules and grants", () => {
  test("BL-076 a predicate that does not say true refuses, nested or not", async () => {
    const answers = [() => undefined, () => "yes", () => 1, async () => false, () => Promise.reject(new Error("x"))];
    for (const access of [
      ...answers,
      () => {
        throw new Error("x");
      },
    ]) {
      const { returned } = await hosted(undefined, { leaf: { access } });
      assert.deepEqual(returned, ["ACCESS_DENIED", "access to tool 'leaf' is denied"]);
    }
    for (const access of [() => true, async () => true])
      assert.equal((await hosted(undefined, { leaf: { access } })).returned, "leaf-out");
  });

  test("NT-33 access is checked after the middleware and before the host's gate", async () => {
    const asked = [];
    const authorizeTool = ({ toolId }) => (asked.push(`gate ${toolId}`), true);
    const access = () => (asked.push("access"), false);
    await hosted({ authorizeTool }, { leaf: { access } });
    assert.deepEqual(asked, ["gate caller", "access"]);
  });

  test("BL-079 an agent without a name is none; two of one name keep their own grants", async () => {
    for (const id of ["", undefined]) {
      assert.throws(
        () => defineAgent({ id, model: agentOf([]).model }),
        (error) => KeelError.isInstance(error),
      );
    }
    const scopes = {};
    const child = (key, grants) => {
      const look = toolOf("look", undefined, { access: (who) => ((scopes[key] = who.scopes), true) });
      return agentOf([issue("look"), text("ok")], { id: "child", grants, tools: [look] });
    };
    const tools = [
      asTool(child("one", ["pay"]), { id: "one" }),
      asTool(child("two", ["read"]), { id: "two" }),
      asTool(child("three"), { id: "three" }),
    ];
    const step = tools.map(({ id }) => issue(id, { brief: "x" }, id));
    const parent = agentOf([step, text("done")], { id: "parent", tools, grants: ["pay", "read"] });
    await createKeel().run(parent, "go", { identity: { id: "u", scopes: ["pay", "read", "more"] } });
    assert.deepEqual(scopes, { one: ["pay"], two: ["read"], three: [] });
  });
});
