import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, KeelError, run } from "../../js/index.js";
import { fail, hang, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, parentOf, toolOf, unpaired } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

/** Three agents, each calling the next; the last one's tool is given. */
function threeLevels(tool, connection = {}) {
  const t3 = agentOf([toolCall(tool.id), text("never")], { id: "t3", tools: [tool] });
  const t2 = agentOf([toolCall("run-t3", { brief: "x" }), text("never")], {
    id: "t2",
    tools: [asTool(t3, connection)],
  });
  const t1 = agentOf([toolCall("run-t2", { brief: "x" }), text("never")], {
    id: "t1",
    tools: [asTool(t2, connection)],
  });
  return { t1, t2, t3, calls: () => [t1, t2, t3].map(({ model }) => model.requests.length) };
}

const immediate = () => new Promise((resolve) => setImmediate(resolve));

describe("a stop", () => {
  test("NT-27 BL-019 reaches every level at once, with the reason, and no further model is called", async () => {
    const stop = new AbortController();
    const reason = { why: "enough" };
    let signal;
    const tool = toolOf(
      "wait",
      (_input, context) => ((signal = context.signal), queueMicrotask(() => stop.abort(reason)), new Promise(() => {})),
    );
    const { t1, calls } = threeLevels(tool, { retries: 3, onError: "feedback" });
    const keel = createKeel();
    const result = await keel.run(t1, "go", { signal: stop.signal });
    assert.equal(result.outcome.status, "stopped");
    assert.equal(result.outcome.reason, reason);
    assert.deepEqual([signal.aborted, signal.reason, calls()], [true, reason, [1, 1, 1]]);
    const records = (await keel.records.list({ rootTurnId: result.turnId })).items;
    assert.deepEqual(
      records.map(({ outcome }) => outcome),
      Array.from({ length: 3 }, () => ({ status: "stopped", reason })),
    );
    const events = await keel.records.events(result.turnId, { tree: true });
    assert.deepEqual(unpaired(events), []);
    assert.deepEqual(
      ofType(events, "turn.stopped").map(({ agentId }) => agentId),
      ["t3", "t2", "t1"],
    );
  });

  test("NT-27 BL-023 a signal that was aborted before: no model call, no tool call, its reason", async () => {
    const { t1, calls } = threeLevels(toolOf("wait"));
    const keel = createKeel();
    for (const how of ["run", "stream"]) {
      const options = { signal: AbortSignal.abort("x") };
      const result = how === "run" ? await keel.run(t1, "go", options) : await keel.stream(t1, "go", options).result;
      assert.deepEqual(result.outcome, { status: "stopped", reason: "x" });
      assert.deepEqual((await keel.records.get(result.turnId)).outcome, { status: "stopped", reason: "x" });
    }
    assert.deepEqual(calls(), [0, 0, 0]);
  });

  test("NT-27 the reason is handed back as it was given, errors included, and told as data in records", async () => {
    const error = new RangeError("too long");
    const agent = agentOf([hang()]);
    const keel = createKeel();
    const result = await keel.run(agent, "go", { signal: AbortSignal.abort(error) });
    assert.equal(result.outcome.reason, error);
    assert.deepEqual((await keel.records.get(result.turnId)).outcome.reason, {
      name: "RangeError",
      message: "too long",
    });
    assert.throws(
      () => result.orThrow(),
      (thrown) => KeelError.isInstance(thrown) && thrown.code === "STOPPED" && thrown.cause === error,
    );
    for (const odd of [
      undefined,
      null,
      0,
      10n,
      Symbol("s"),
      () => {},
      new Proxy(
        {},
        {
          get() {
            throw new Error("no");
          },
        },
      ),
    ]) {
      const other = await keel.run(agentOf([text("x")]), "go", { signal: fakeAborted(odd) });
      assert.deepEqual([other.outcome.status, Object.is(other.outcome.reason, odd)], ["stopped", true]);
    }
  });

  test("NT-27 D-40 keel.stop stops the tree of a turn, and answers false for what is unknown or over", async () => {
    const keel = createKeel();
    let childId;
    const tool = toolOf("wait", (_input, { turnId }) => ((childId = turnId), new Promise(() => {})));
    const { t1 } = threeLevels(tool);
    const running = keel.run(t1, "go");
    await immediate();
    assert.equal(await keel.stop("nobody"), false);
    assert.equal(await keel.stop(childId, { reason: "all of it" }), true);
    const result = await running;
    assert.deepEqual(result.outcome, { status: "stopped", reason: "all of it" });
    assert.equal(await keel.stop(result.turnId), false);
    await assert.rejects(keel.stop(result.turnId, { scope: "world" }), { code: "OPTION_INVALID" });
    await assert.rejects(keel.stop(result.turnId, { reasons: 1 }), { code: "OPTION_UNKNOWN" });
  });

  test('NT-27 scope "subtree" stops one child only: its caller gets STOPPED and goes on', async () => {
    const keel = createKeel();
    let signal;
    const tool = toolOf("wait", (_input, context) => {
      signal = context.signal;
      queueMicrotask(() => keel.stop(`${context.rootTurnId}.1`, { scope: "subtree", reason: "this branch" }));
      return new Promise(() => {});
    });
    const t3 = agentOf([toolCall("wait"), text("never")], { id: "t3", tools: [tool] });
    const t2 = agentOf([toolCall("run-t3", { brief: "x" }), text("never")], { id: "t2", tools: [asTool(t3)] });
    const t1 = agentOf([toolCall("run-t2", { brief: "x" }), text("went on")], { id: "t1", tools: [asTool(t2)] });
    const result = await keel.run(t1, "go");
    assert.equal(result.text, "went on");
    const { ok, cause, turnId } = lastOutputs(t1)[0].value;
    assert.deepEqual([ok, cause.code, turnId], [false, "STOPPED", `${result.turnId}.1`]);
    assert.deepEqual(
      (await keel.records.tree(result.turnId)).children.map(({ record, children }) => [
        record.outcome,
        children[0].record.outcome,
      ]),
      [
        [
          { status: "stopped", reason: "this branch" },
          { status: "stopped", reason: "this branch" },
        ],
      ],
    );
    assert.deepEqual([signal.aborted, signal.reason], [true, "this branch"]);
  });

  test('NT-27 a stopped child under onError "fail" fails its caller with STOPPED underneath', async () => {
    const keel = createKeel();
    const child = agentOf([(_request, { turnId }) => (void keel.stop(turnId, { scope: "subtree" }), hang())], {
      id: "child",
    });
    const { outcome } = await keel.run(parentOf(child, [call], { onError: "fail" }), "go");
    assert.deepEqual([outcome.cause.code, outcome.cause.cause.code], ["CHILD_FAILED", "STOPPED"]);
  });

  test("NT-27 a tool and a model that never settle and never listen do not delay it", async () => {
    for (const script of [[hang({ ignoreAbort: true })], [toolCall("deaf")]]) {
      const stop = new AbortController();
      const running = run(agentOf(script, { tools: [toolOf("deaf", () => new Promise(() => {}))] }), "go", {
        signal: stop.signal,
      });
      await immediate();
      stop.abort("now");
      assert.deepEqual((await running).outcome, { status: "stopped", reason: "now" });
    }
  });

  test("NT-27 while a retry waits, it ends the wait", async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const agent = agentOf([fail(Object.assign(new Error("busy"), { isRetryable: true })), text("never")]);
    const running = createKeel({ clock }).run(agent, "go", { signal: stop.signal });
    await clock.advance(1);
    stop.abort("no");
    assert.equal((await running).outcome.status, "stopped");
    assert.equal(agent.model.requests.length, 1);
  });

  for (const [place, definition] of [
    [
      "an access predicate",
      (abort) => ({ tools: [toolOf("work", () => assert.fail("entered"), { access: () => (abort(), true) })] }),
    ],
    [
      "the arguments' schema",
      (abort) => ({
        tools: [toolOf("work", () => assert.fail("entered"), { input: standard(() => (abort(), { value: {} })) })],
      }),
    ],
  ]) {
    test(`BL-034 a stop from within ${place} keeps the tool from running`, async () => {
      const stop = new AbortController();
      const agent = agentOf(
        [toolCall("work"), text("never")],
        definition(() => stop.abort("no")),
      );
      const keel = createKeel();
      const result = await keel.run(agent, "go", { signal: stop.signal });
      assert.deepEqual([result.outcome.status, agent.model.requests.length], ["stopped", 1]);
      assert.deepEqual(ofType(await keel.records.events(result.turnId), "tool.started"), []);
    });
  }

  test("NT-27 a stop while instructions or sources are made calls no model", async () => {
    const stop = new AbortController();
    let signal;
    const agent = agentOf([text("never")], {
      instructions: (context) => (
        (signal = context.signal),
        queueMicrotask(() => stop.abort("no")),
        new Promise(() => {})
      ),
    });
    assert.equal((await run(agent, "go", { signal: stop.signal })).outcome.status, "stopped");
    assert.deepEqual([signal.aborted, signal.reason, agent.model.requests.length], [true, "no", 0]);
  });
});

/** An already aborted signal with any reason, also one that AbortSignal.abort would replace. */
function fakeAborted(reason) {
  return Object.assign(new EventTarget(), { aborted: true, reason });
}

function standard(validate) {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate,
      jsonSchema: { input: () => anything, output: () => anything },
    },
  };
}
