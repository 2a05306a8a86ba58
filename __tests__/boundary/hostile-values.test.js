/** What a hostile or careless application hands over: it may cost its own call or its own definition, and nobody else's turn. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { asTool, createKeel, defineAgent, definePart, defineTool, KeelError, toolPolicy } from "../../js/index.js";
import { hang, scriptedModel, text, toolCall, virtualClock } from "../../js/testing/index.js";

const HALF = "\ud83d";
const any = { type: "object" };
const tool = (id, execute, more) => defineTool({ id, access: "public", input: any, execute, ...more });
const agent = (script, more) => defineAgent({ id: "agent", model: scriptedModel(script), ...more });
const code = (expected) => (error) => KeelError.isInstance(error) && error.code === expected;

function unreadable() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/**
 * Runs an agent next to a bystander on the same keel, which has to complete whatever happens.
 *
 * @param {any} hostile
 * @param {object} [options]
 */
async function runBeside(hostile, options) {
  const keel = createKeel(options);
  let release = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve("released");
  });
  const bystander = keel.run(agent([toolCall("wait"), text("fine")], { tools: [tool("wait", () => released)] }), "go");
  const result = await keel.run(hostile, "go");
  release();
  assert.equal((await bystander).outcome.status, "completed");
  return { keel, result };
}

test("hostile: a revoked proxy is no KeelError, and asking does not throw", () => {
  assert.equal(KeelError.isInstance(unreadable()), false);
});

test("hostile D-11 a nested tool that throws a revoked proxy fails its own call, and no other turn of the keel", async () => {
  const bad = tool("bad", () => {
    throw unreadable();
  });
  const caller = tool("caller", (_input, { callTool }) => callTool("bad", {}).catch((error) => error.code));
  const calling = agent([toolCall("caller"), text("done")], { tools: [bad, caller] });
  const { result } = await runBeside(calling, { limits: { maxNestedDepth: 1 } });
  assert.equal(result.outcome.status, "completed");
  assert.equal(result.record.transcript.find(({ role }) => role === "tool").content[0].output.value, "TOOL_ERROR");
});

for (const [name, value] of Object.entries({
  "without isError": { kind: "tool-result" },
  "with an isError that is no boolean": { kind: "tool-result", isError: "yes" },
  "with a text that is none": { kind: "tool-result", isError: false, text: 5 },
})) {
  test(`hostile: an object of kind "tool-result" ${name} is a value like any other`, async () => {
    const calling = agent([toolCall("odd"), text("done")], { tools: [tool("odd", () => value)] });
    const { result } = await runBeside(calling);
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(result.record.transcript.find(({ role }) => role === "tool").content[0].output.value, value);
  });
}

const unnameable = Object.defineProperty(new Error("x"), "name", {
  get() {
    throw new Error("no name");
  },
});
for (const [name, reason] of Object.entries({
  "a revoked proxy": unreadable(),
  "an error without a readable name": unnameable,
})) {
  test(`hostile NT-27 ${name} as the reason of a stop stops the turn, and is handed on untouched`, async () => {
    const keel = createKeel();
    const controller = new AbortController();
    const aborted = keel.run(agent([hang()]), "go", { signal: controller.signal });
    const stopped = keel.stream(agent([hang()]), "go");
    const early = keel.run(agent([hang()]), "go", { signal: AbortSignal.abort(reason) });
    await Promise.resolve();
    controller.abort(reason);
    assert.equal(await keel.stop(stopped.turnId, { reason }), true);
    for (const { outcome } of await Promise.all([aborted, stopped.result, early])) {
      assert.equal(outcome.status, "stopped");
      assert.ok(Object.is(outcome.reason, reason));
    }
  });
}

test("hostile D-24 a redact() whose answer has no JSON text hides the payload, for whoever streams and whoever reads", async () => {
  const failing = agent([toolCall("t"), text("done")], {
    tools: [tool("t", () => ({ a: 1 }), { exposeErrors: true })],
  });
  const keel = createKeel({ capture: { toolIo: true, redact: () => 1n } });
  const refused = tool("t", () => {
    throw new Error("secret");
  });
  for (const one of [failing, agent([toolCall("t"), text("done")], { tools: [refused] })]) {
    const stream = keel.stream(one, "go");
    assert.equal((await stream.result).outcome.status, "completed");
    const events = await keel.records.events(stream.turnId);
    assert.doesNotMatch(events.map(({ error }) => String(error)).join(), /secret/);
  }
});

test("hostile: half a character in what the kernel keeps is refused where it is given", async () => {
  const keel = createKeel();
  const plain = agent([text("done")]);
  assert.throws(() => agent([], { instructions: HALF }), code("OPTION_INVALID"));
  assert.throws(() => agent([], { grants: [HALF] }), code("OPTION_INVALID"));
  assert.throws(() => tool("t", () => 1, { access: { scopes: [HALF] } }), code("OPTION_INVALID"));
  assert.throws(() => tool("t", () => 1, { injects: [{ name: HALF, from: "host" }] }), code("OPTION_INVALID"));
  assert.throws(() => createKeel({ security: { allowTools: [HALF] } }), code("OPTION_INVALID"));
  await assert.rejects(keel.run(plain, "go", { identity: { id: "ada", scopes: [HALF] } }), code("OPTION_INVALID"));
  await assert.rejects(keel.records.list({ cursor: HALF }), code("OPTION_INVALID"));
  assert.equal(await keel.records.get(HALF), undefined);
  assert.deepEqual(await keel.records.events(HALF), []);
});

test("hostile NT-9 a promise is no options: a forgotten await never opens a gate", async () => {
  const options = Promise.resolve({});
  for (const field of ["security", "limits", "capture", "ledger"]) {
    assert.throws(
      () => createKeel({ [field]: options }),
      (error) => KeelError.isInstance(error),
      field,
    );
  }
  assert.throws(() => createKeel(options), code("OPTION_INVALID"));
  assert.throws(() => toolPolicy(options), code("OPTION_INVALID"));
  assert.throws(() => toolPolicy({}, { deny: [undefined] }), code("OPTION_INVALID"));
  await assert.rejects(createKeel().run(agent([text("done")]), "go", options), code("OPTION_INVALID"));
});

test("hostile NT-10 what only looks like a definition is refused as an option, not found out inside", async () => {
  const keel = createKeel();
  await assert.rejects(keel.run({ kind: "agent", id: "x" }, "go"), code("OPTION_INVALID"));
  assert.throws(() => asTool({ kind: "agent", id: "x" }), code("OPTION_INVALID"));
  assert.throws(() => agent([], { tools: [{ kind: "tool", id: "x", input: { text: "{}" } }] }), code("OPTION_INVALID"));
  assert.throws(
    () => agent([], { emits: [{ kind: "part", name: "x", schema: { text: "{}" } }] }),
    code("OPTION_INVALID"),
  );
  assert.throws(() => agent([], { reads: [{ kind: "source", load() {} }] }), code("OPTION_INVALID"));
  assert.ok(agent([], { emits: [definePart({ name: "x", schema: any })] }));
});

test("hostile: options of records.events and of keel-native/testing are checked like all others", async () => {
  const { records } = createKeel();
  await assert.rejects(records.events("x", null), code("OPTION_INVALID"));
  await assert.rejects(records.events("x", { tree: 1 }), code("OPTION_INVALID"));
  assert.throws(() => virtualClock(null), code("OPTION_INVALID"));
  assert.throws(() => virtualClock({ wallNow: "2026" }), code("OPTION_INVALID"));
  assert.throws(() => virtualClock().advance(Object.create(null)), code("OPTION_INVALID"));
  assert.throws(() => scriptedModel([], null), code("OPTION_INVALID"));
});

test("hostile D-25 the result of an external call is bound by the depth of any value", async () => {
  const keel = createKeel();
  const external = defineTool({ id: "ask", access: "public", input: any, external: true });
  const { turnId, outcome } = await keel.run(agent([toolCall("ask"), text("done")], { tools: [external] }), "go");
  const nested = (levels) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  const answer = (levels) => ({ approvals: { [outcome.pending[0].id]: { result: nested(levels) } } });
  await assert.rejects(keel.resume(turnId, answer(129)), code("VALUE_TOO_DEEP"));
  assert.equal((await keel.resume(turnId, answer(128))).outcome.status, "completed");
});

test("hostile: a signal that cannot be unwatched is refused, not found out when the turn ends", async () => {
  const signal = { aborted: false, addEventListener() {} };
  await assert.rejects(createKeel().run(agent([text("done")]), "go", { signal }), code("OPTION_INVALID"));
});
