import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, defineSource, run } from "../../js/index.js";
import { text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, parentOf, toolOf } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

/** Runs three levels that each call `tool`, and returns what it recorded. */
async function atThreeLevels(look, options, args = {}) {
  const seen = [];
  const tool = toolOf("look", (input, context) => void seen.push(look(context, input)));
  const level = (id, below) =>
    agentOf(
      [
        [toolCall("look", args), ...(below ? [toolCall(`run-${below.id}`, { brief: "x", ...args })] : [])],
        text("done"),
      ],
      { id, tools: [tool, ...(below ? [asTool(below)] : [])] },
    );
  const root = level("root", level("middle", level("leaf")));
  const result = await run(root, "go", options);
  assert.equal(result.text, "done");
  return { seen, result };
}

describe("what a tree shares", () => {
  test("BL-099 D-28 NT-31 every level reads the very same frozen ambient value and identity", async () => {
    const given = { tenant: "t1", deep: { list: [1] } };
    const identity = { id: "user-1", scopes: ["a"], name: "Ada" };
    const { seen } = await atThreeLevels(({ ambient, identity: who }) => ({ ambient, who }), {
      ambient: given,
      identity,
    });
    assert.equal(seen.length, 3);
    for (const { ambient, who } of seen) {
      assert.deepEqual([ambient, who], [given, identity]);
      assert.ok(ambient === seen[0].ambient && who === seen[0].who);
      assert.ok([ambient, ambient.deep, ambient.deep.list, who, who.scopes].every(Object.isFrozen));
    }
    given.tenant = "changed later";
    assert.equal(seen[0].ambient.tenant, "t1");
  });

  test("BL-100 NT-31 no argument changes the identity", async () => {
    const forged = { identity: { id: "root" }, ambient: { tenant: "other" }, scopes: ["admin"] };
    const { seen } = await atThreeLevels(
      ({ identity, ambient }) => [identity.id, ambient.tenant],
      { identity: { id: "user-1" }, ambient: { tenant: "t1" } },
      forged,
    );
    assert.deepEqual(
      seen,
      Array.from({ length: 3 }, () => ["user-1", "t1"]),
    );
  });

  test("BL-102 BL-104 D-28 nobody can write into the ambient value of the others", async () => {
    const { seen } = await atThreeLevels(
      ({ ambient }) => {
        assert.throws(() => {
          ambient.readOnly = true;
        }, TypeError);
        assert.throws(() => {
          ambient.list.push(1);
        }, TypeError);
        return JSON.stringify(ambient);
      },
      { ambient: { list: [] } },
    );
    assert.deepEqual(
      seen,
      Array.from({ length: 3 }, () => '{"list":[]}'),
    );
  });

  test("D-28 any JSON may be ambient, and absent stays absent", async () => {
    for (const ambient of [null, 0, "", false, [1], "text"]) {
      const { seen } = await atThreeLevels((context) => context.ambient, { ambient });
      assert.deepEqual(seen[2], ambient);
    }
    const { seen } = await atThreeLevels(({ ambient, identity }) => [ambient, identity], {});
    assert.deepEqual(seen[2], [undefined, undefined]);
    await assert.rejects(run(agentOf([]), "go", { ambient: () => {} }), { code: "OPTION_INVALID" });
  });

  test("a tool's context says where it runs, at every level, and its functions may be taken off it", async () => {
    const { seen, result } = await atThreeLevels(
      ({ turnId, rootTurnId, parentTurnId, agentId, callId, parentCallId, level, attempt, emit, progress }) => {
        progress({ done: 1 });
        assert.throws(() => emit({}, 1), { code: "PART_NOT_EMITTED" });
        return { turnId, rootTurnId, parentTurnId, agentId, callId, parentCallId, level, attempt };
      },
      {},
    );
    const id = result.turnId;
    const common = { rootTurnId: id, callId: "call-1", parentCallId: undefined, level: 0, attempt: 1 };
    assert.deepEqual(
      seen.toSorted((a, b) => a.turnId.length - b.turnId.length),
      [
        { turnId: id, parentTurnId: undefined, agentId: "root", ...common },
        { turnId: `${id}.1`, parentTurnId: id, agentId: "middle", ...common },
        { turnId: `${id}.1.1`, parentTurnId: `${id}.1`, agentId: "leaf", ...common },
      ],
    );
  });

  test("nested calls are off: callTool rejects and says so, and may be left alone", async () => {
    let thrown;
    const tool = toolOf("outer", async (_input, { callTool }) => {
      callTool("inner", {});
      await callTool("inner", {}).catch((error) => (thrown = error));
    });
    await run(agentOf([toolCall("outer"), text("done")], { tools: [tool, toolOf("inner")] }), "go");
    assert.deepEqual(
      [thrown.code, thrown.message],
      ["TOOL_FAILED", "nested tool calls are disabled (max_nested_depth = 0)"],
    );
  });

  test("BL-103 what a child emits is kept in its own record, under its own parent and root", async () => {
    const note = definePart({ name: "note", schema: anything, persist: "content" });
    const child = agentOf([toolCall("write"), text("done")], {
      id: "child",
      emits: [note],
      tools: [toolOf("write", (_input, ctx) => ctx.emit(note, { by: ctx.identity.id }))],
    });
    const keel = createKeel();
    const { turnId, record } = await keel.run(parentOf(child, [call, text("done")]), "go", {
      identity: { id: "user-1" },
    });
    const kept = await keel.records.get(`${turnId}.1`);
    assert.deepEqual(
      [kept.parts, kept.parentTurnId, kept.rootTurnId, record.parts],
      [[{ part: "note", value: { by: "user-1" } }], turnId, turnId, []],
    );
  });
});

describe("NT-32 NT-33 what a turn may use", () => {
  const guarded = (access) => toolOf("guarded", () => "ran", { access });
  const attempt = async (access, { grants = [], identity, narrow, levels = 1 } = {}) => {
    const inner = agentOf([toolCall("guarded"), text("done")], { id: "child", grants, tools: [guarded(access)] });
    const root = levels === 1 ? inner : parentOf(inner, [call, text("done")], narrow ? { narrow } : {});
    await run(root, "go", identity ? { identity } : {});
    return [inner.model.requests[0].tools.length, lastOutputs(inner)[0].value];
  };
  const ran = [1, "ran"];
  const denied = (offered) => [offered, "access to tool 'guarded' is denied"];

  test("NT-33 public is for everybody, authenticated for whoever has an identity", async () => {
    assert.deepEqual(await attempt("public"), ran);
    assert.deepEqual(await attempt("authenticated"), denied(0));
    assert.deepEqual(await attempt("authenticated", { identity: { id: "u" } }), ran);
  });

  test("NT-32 NT-33 scopes need the identity and the agent's grants; a forced call is refused, the tool not offered", async () => {
    const scopes = { scopes: ["read", "write"] };
    const grants = ["read", "write"];
    assert.deepEqual(await attempt(scopes, { grants }), denied(0));
    assert.deepEqual(await attempt(scopes, { grants, identity: { id: "u", scopes: ["read"] } }), denied(0));
    assert.deepEqual(await attempt(scopes, { grants, identity: { id: "u", scopes: ["read", "write", "more"] } }), ran);
  });

  test("NT-31 narrow removes scopes for the subtree, and can add none", async () => {
    const identity = { id: "u", scopes: ["read"] };
    const options = { grants: ["read"], levels: 2, identity };
    assert.deepEqual(await attempt({ scopes: ["read"] }, options), ran);
    assert.deepEqual(await attempt({ scopes: ["read"] }, { ...options, narrow: { scopes: [] } }), denied(0));
    assert.deepEqual(await attempt({ scopes: ["read"] }, { ...options, narrow: { scopes: ["read", "admin"] } }), ran);
    assert.deepEqual(
      await attempt({ scopes: ["admin"] }, { ...options, grants: ["admin"], narrow: { scopes: ["admin"] } }),
      denied(0),
    );
  });

  test("NT-33 D-16 a predicate is asked for each call and needs an explicit true", async () => {
    for (const answer of [undefined, null, 1, "yes", {}, false]) {
      assert.deepEqual(await attempt(() => answer), denied(1));
      assert.deepEqual(await attempt(async () => answer), denied(1));
    }
    assert.deepEqual(await attempt(() => true), ran);
    assert.deepEqual(await attempt(async () => true), ran);
  });

  test("BL-076 D-16 a predicate that throws or rejects refuses", async () => {
    assert.deepEqual(
      await attempt(() => {
        throw new Error("no");
      }),
      denied(1),
    );
    assert.deepEqual(await attempt(() => Promise.reject(new Error("no"))), denied(1));
  });

  test("NT-33 a predicate is told who asks, frozen, with the scopes in force", async () => {
    const seen = [];
    await attempt((who) => (seen.push(who), true), {
      grants: ["a", "b"],
      identity: { id: "u", scopes: ["b", "c"] },
      levels: 2,
    });
    const [{ turnId, rootTurnId, parentTurnId, agentId, attempt: tries, identity, scopes }] = seen;
    assert.deepEqual([agentId, tries, identity.id, scopes], ["child", 1, "u", ["b"]]);
    assert.deepEqual([parentTurnId, turnId], [rootTurnId, `${rootTurnId}.1`]);
    assert.ok(Object.isFrozen(seen[0]) && Object.isFrozen(scopes));
  });

  test("NT-33 a refusal is one tool.refused with its code, costs no slot, and the turn goes on", async () => {
    const keel = createKeel();
    const agent = agentOf([[toolCall("guarded"), toolCall("free")], text("went on")], {
      tools: [guarded("authenticated"), toolOf("free")],
    });
    const result = await keel.run(agent, "go", { budget: { toolCalls: 1 } });
    assert.deepEqual([result.text, lastOutputs(agent)[1].value], ["went on", "ok"]);
    const events = await keel.records.events(result.turnId);
    assert.deepEqual(
      ofType(events, "tool.refused").map(({ toolId, error }) => [toolId, error.code]),
      [["guarded", "ACCESS_DENIED"]],
    );
  });

  test("NT-33 a connection has an access rule like any tool", async () => {
    const child = agentOf([text("never")], { id: "child" });
    const parent = parentOf(child, [call, text("went on")], { access: () => false });
    const keel = createKeel();
    const { turnId } = await keel.run(parent, "go");
    assert.equal(child.model.requests.length, 0);
    assert.equal(await keel.records.get(`${turnId}.1`), undefined);
  });
});

describe("NT-32 what an agent reads", () => {
  const source = (id, load, access = "public") => defineSource({ id, access, load });

  test("NT-32 sources stand before the instructions, in order, loaded once per turn", async () => {
    const seen = [];
    const first = source("first", (context) => (seen.push(context), "ONE"));
    const second = source("second", async () => "TWO");
    const agent = agentOf([toolCall("note"), text("done")], {
      reads: [first, second],
      instructions: ({ agentId }) => `You are ${agentId}.`,
      tools: [toolOf("note")],
    });
    await run(agent, "go", { ambient: 5 });
    for (const { messages } of agent.model.requests)
      assert.deepEqual(messages[0], { role: "system", content: "ONE\n\nTWO\n\nYou are agent." });
    assert.deepEqual([seen.length, seen[0].ambient, seen[0].agentId, seen[0].signal.aborted], [1, 5, "agent", false]);
  });

  test("NT-32 a source that the turn may not read fails it with ACCESS_DENIED, before any model call", async () => {
    for (const access of [
      "authenticated",
      () => false,
      () => {
        throw new Error("no");
      },
    ]) {
      const agent = agentOf([text("never")], { reads: [source("secret", () => assert.fail("loaded"), access)] });
      const { outcome } = await run(agent, "go");
      assert.equal(outcome.cause.code, "ACCESS_DENIED");
      assert.match(outcome.cause.message, /'secret'/);
      assert.equal(agent.model.requests.length, 0);
    }
  });

  for (const [name, rest] of [
    [
      "a source that throws",
      {
        reads: [
          source("s", () => {
            throw new Error("disk full");
          }),
        ],
      },
    ],
    ["a source that gives no text", { reads: [source("s", () => 5)] }],
    [
      "instructions that throw",
      {
        instructions: () => {
          throw new Error("disk full");
        },
      },
    ],
    ["instructions that are no text", { instructions: async () => undefined }],
  ]) {
    test(`${name} fails the turn with INSTRUCTIONS_FAILED, and a caller gets it as feedback`, async () => {
      const child = agentOf([text("never")], { id: "child", ...rest });
      const parent = parentOf(child, [call, text("went on")]);
      const result = await run(parent, "go");
      assert.equal(result.text, "went on");
      assert.equal(lastOutputs(parent)[0].value.cause.code, "INSTRUCTIONS_FAILED");
    });
  }

  test("NT-22 instructions that never come are bound by the turn's time", async () => {
    const clock = virtualClock();
    let signal;
    const agent = agentOf([text("never")], {
      instructions: (context) => ((signal = context.signal), new Promise(() => {})),
    });
    const running = createKeel({ clock }).run(agent, "go", { budget: { timeMs: 100 } });
    await clock.advance(100);
    assert.equal((await running).outcome.cause.code, "BUDGET_TIME");
    assert.equal(signal.aborted, true);
  });
});

describe("D-16 limits.hookTimeoutMs", () => {
  for (const [name, limits, at] of [
    ["30 seconds by default", undefined, 30_000],
    ["what it is set to", { hookTimeoutMs: 50 }, 50],
  ]) {
    test(`BL-076 D-16 a predicate that never answers refuses after ${name}`, async () => {
      const clock = virtualClock();
      const agent = agentOf([toolCall("guarded"), text("went on")], {
        tools: [toolOf("guarded", () => assert.fail("entered"), { access: () => new Promise(() => {}) })],
      });
      const running = createKeel({ clock }).run(agent, "go", {
        budget: { timeMs: 100_000 },
        ...(limits && { limits }),
      });
      await clock.advance(at - 1);
      assert.equal(agent.model.requests.length, 1);
      await clock.advance(1);
      assert.equal(agent.model.requests.length, 2);
      assert.equal((await running).text, "went on");
    });
  }
});
