import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { asTool, createKeel, defineMiddleware, defineTool, memoryLedger } from "../../js/index.js";
import { scriptedModel, text, toolCall } from "../../js/testing/index.js";
import { callerOf, leafOf, nestedRun, ONE_CALL } from "../scenes/nested-runs.js";
import { agentOf, toolOf } from "../scenes/small-agents.js";

test("a nested call's context: its own id, its caller's, its level, and the turn around it", async () => {
  const contexts = [];
  const note = (context) => {
    const { turnId, rootTurnId, agentId, callId, parentCallId, level, attempt } = context;
    contexts.push({ inTurn: turnId === rootTurnId, agentId, callId, parentCallId, level, attempt });
  };
  const { leaf } = leafOf((_input, context) => note(context));
  const middle = toolOf("middle", async (_input, context) => {
    note(context);
    await context.callTool("leaf", {});
  });
  const caller = callerOf(async (context) => {
    note(context);
    await context.callTool("middle", {});
  });
  await nestedRun({ tools: [caller, middle, leaf] });
  const shared = { inTurn: true, agentId: "agent", attempt: 1 };
  assert.deepEqual(contexts, [
    { ...shared, callId: "p1", parentCallId: undefined, level: 0 },
    { ...shared, callId: "p1/1", parentCallId: "p1", level: 1 },
    { ...shared, callId: "p1/1/1", parentCallId: "p1/1", level: 2 },
  ]);
});

/** A turn whose tool, nested tool, child and grandchild turn all note what `pick` takes from their contexts. */
async function everywhere(pick, run) {
  const seen = [];
  const noting = () => leafOf((_input, context) => void seen.push(pick(context))).leaf;
  const down = (next) =>
    callerOf(async (context) => {
      seen.push(pick(context));
      await context.callTool("leaf", { identity: { id: "forged" }, ambient: { forged: true } });
      if (next) await context.callTool(next, { brief: "x" });
    });
  const grandchild = agentOf(ONE_CALL, { id: "grandchild", tools: [down(), noting()] });
  const child = agentOf(ONE_CALL, { id: "child", tools: [down("run-grandchild"), noting(), asTool(grandchild)] });
  const { result } = await nestedRun({ tools: [down("run-child"), noting(), asTool(child)], run });
  assert.equal(result.outcome.status, "completed");
  assert.equal(seen.length, 6);
  return seen;
}

test("BL-099 D-28 ambient is one and the same frozen object in a tool, a nested tool, child and grandchild turns", async () => {
  const ambient = { tenant: { id: "t1" } };
  const seen = await everywhere((context) => context.ambient, { ambient });
  assert.deepEqual(seen[0], ambient);
  assert.notEqual(seen[0], ambient);
  assert.ok(Object.isFrozen(seen[0]) && Object.isFrozen(seen[0].tenant));
  for (const one of seen) assert.equal(one, seen[0]);
});

test("BL-100 the root's identity is seen everywhere below, whatever arguments say", async () => {
  const seen = await everywhere((context) => context.identity, { identity: { id: "u1", scopes: ["s"], user: "u1" } });
  for (const one of seen) assert.deepEqual(one, { id: "u1", scopes: ["s"], user: "u1" });
});

test("BL-100 without an identity nobody below has one", async () => {
  assert.deepEqual(await everywhere((context) => context.identity, {}), Array(6).fill(undefined));
});

test("D-23 equal calls have different idempotency keys; the ledger's argsHash tells tool and arguments alone", async () => {
  const keys = [];
  const { leaf } = leafOf((_input, { callId, idempotencyKey }) => void keys.push([callId, idempotencyKey]));
  const caller = callerOf(async ({ callTool }) => {
    await callTool("leaf", { a: 1, b: 2 });
    await callTool("leaf", { b: 2, a: 1 });
    await callTool("leaf", { a: 2, b: 2 });
  });
  const ledger = memoryLedger();
  await nestedRun({ tools: [caller, leaf], ledger });
  const rows = ledger.rows().filter(({ toolId }) => toolId === "leaf");
  assert.equal(new Set(keys.map(([, key]) => key)).size, 3);
  assert.deepEqual(
    rows.map(({ callId, idempotencyKey }) => [callId, idempotencyKey]),
    keys,
  );
  for (const [, key] of keys) assert.match(key, /^[0-9a-f]{64}$/);
  const hashOf = (json) => createHash("sha256").update(`leaf\0${json}`).digest("hex");
  assert.deepEqual(
    rows.map(({ argsHash }) => argsHash),
    [hashOf('{"a":1,"b":2}'), hashOf('{"a":1,"b":2}'), hashOf('{"a":2,"b":2}')],
  );
  assert.deepEqual(
    rows.map(({ parentCallId }) => parentCallId),
    ["p1", "p1", "p1"],
  );
});

test("D-23 a key is made of the prepared arguments, and is the same whenever it is read", async () => {
  const keys = [];
  const { leaf } = leafOf((_input, context) => void keys.push(context.idempotencyKey, context.idempotencyKey), {
    injects: [{ name: "tenant", from: "host" }],
  });
  const caller = callerOf(({ callTool }) => callTool("leaf", { tenant: "forged", n: 1 }).then(() => "ok"));
  const ledger = memoryLedger();
  const tenants = ["t1", "t2"];
  await nestedRun({ tools: [caller, leaf], ledger, injected: () => ({ tenant: tenants.shift() }) });
  assert.equal(keys[0], keys[1]);
  const { argsHash } = ledger.rows()[1];
  assert.equal(argsHash, createHash("sha256").update('leaf\0{"n":1,"tenant":"t1"}').digest("hex"));
});

test("BL-106 D-37 50 concurrent turns, each in its own async context: every nested body sees its own", async () => {
  const als = new AsyncLocalStorage();
  const { leaf } = leafOf(async (_input, { callId }) => {
    const before = als.getStore();
    await new Promise((resolve) => setImmediate(resolve));
    return [callId, before, als.getStore()];
  });
  const seen = [];
  const caller = callerOf(async ({ callTool }) => {
    const calls = [als.run("inside", () => callTool("leaf", {})), callTool("leaf", {})];
    seen.push([als.getStore(), ...(await Promise.all(calls)).map(({ value }) => value), als.getStore()]);
  });
  const keel = createKeel({ limits: { maxNestedDepth: 1 } });
  const model = scriptedModel(ONE_CALL, { perTurn: true });
  const agent = agentOf(model, { tools: [caller, leaf] });
  const runs = Array.from({ length: 50 }, (_, index) => als.run(index, () => keel.run(agent, "go")));
  for (const { outcome } of await Promise.all(runs)) assert.equal(outcome.status, "completed");
  assert.equal(seen.length, 50);
  for (const [own, inside, outside, after] of seen) {
    assert.deepEqual(inside, ["p1/1", "inside", "inside"]);
    assert.deepEqual(outside, ["p1/2", own, own]);
    assert.equal(after, own);
  }
  assert.deepEqual(new Set(seen.map(([own]) => own)), new Set(runs.keys()));
});

test("BL-106 D-37 hooks, predicates and a child's callbacks run in the context of the callTool that they work for", async () => {
  const als = new AsyncLocalStorage();
  const seen = {};
  const note = (name, value) => () => {
    seen[name] = als.getStore();
    return value;
  };
  const hooks = defineMiddleware({
    name: "hooks",
    checkNestedTool: note("checkNestedTool"),
    observeNestedResult: note("observeNestedResult"),
    wrapTool: (_context, call, next) => {
      if (call.callId === "p1/1") seen.wrapTool = als.getStore();
      return next();
    },
  });
  const input = {
    type: "object",
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => (note("schema")(), { value }),
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
  const leaf = defineTool({
    id: "leaf",
    input,
    access: note("access", true),
    concurrency: note("concurrency", "shared"),
    injects: [{ name: "k", from: "host" }],
    execute: note("execute"),
  });
  const inChild = toolOf("in-child", note("in a child"));
  const child = agentOf([toolCall("in-child"), text("done")], {
    id: "child",
    tools: [inChild],
    instructions: note("instructions", "be quick"),
  });
  const caller = callerOf(async ({ callTool }) => {
    await als.run("of the call", () => callTool("leaf", {}));
    await als.run("of the call", () => callTool("run-child", { brief: "x" }));
  });
  const { result } = await nestedRun({
    tools: [caller, leaf, asTool(child)],
    middleware: [hooks],
    injected: note("injected", { k: 1 }),
    security: { authorizeTool: ({ callId }) => (callId === "p1/1" ? note("authorizeTool", true)() : true) },
  });
  assert.equal(result.outcome.status, "completed");
  const names = [
    "schema",
    "injected",
    "concurrency",
    "checkNestedTool",
    "access",
    "authorizeTool",
    "wrapTool",
    "execute",
    "observeNestedResult",
    "instructions",
    "in a child",
  ];
  assert.deepEqual(seen, Object.fromEntries(names.map((name) => [name, "of the call"])));
});
