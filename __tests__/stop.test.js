import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, KeelError, run } from "../js/index.js";
import { delay, fail, hang, text, toolCall, virtualClock } from "../js/testing/index.js";
import {
  agentOf,
  anything,
  deferred,
  lastOutputs,
  ofType,
  outputsIn,
  parentOf,
  toolOf,
  unpaired,
} from "./small-agents.js";

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

describe("what comes too late", () => {
  test("BL-020 NT-03 a tool that resolves after the stop changes no record, event or transcript", async () => {
    const late = deferred();
    const stop = new AbortController();
    let context;
    const tool = toolOf(
      "late",
      (_input, given) => ((context = given), queueMicrotask(() => stop.abort("no")), late.promise),
    );
    const child = agentOf([toolCall("late"), text("never")], { id: "child", tools: [tool] });
    const keel = createKeel();
    const result = await keel.run(parentOf(child, [call]), "go", { signal: stop.signal });
    const look = async () =>
      JSON.stringify([
        await keel.records.tree(result.turnId),
        await keel.records.events(result.turnId, { tree: true }),
      ]);
    const before = await look();
    context.progress({ message: "still here" });
    late.resolve("too late");
    await immediate();
    assert.equal(await look(), before);
  });

  for (const [how, settle] of [
    ["resolves with text", ({ resolve }) => resolve({ text: "late words" })],
    ["throws", ({ reject }) => reject(new Error("late failure"))],
  ]) {
    test(`BL-028 NT-03 a stopped child whose model ${how} later stays stopped`, async () => {
      const late = deferred();
      const keel = createKeel();
      const child = agentOf(
        { id: "m", generate: (_request, { turnId }) => (void keel.stop(turnId, { scope: "subtree" }), late.promise) },
        { id: "child" },
      );
      const parent = parentOf(child, [call, text("went on")]);
      const result = await keel.run(parent, "go");
      const before = await keel.records.get(`${result.turnId}.1`);
      settle(late);
      await immediate();
      assert.deepEqual(await keel.records.get(`${result.turnId}.1`), before);
      assert.equal(before.status, "stopped");
      assert.doesNotMatch(JSON.stringify(result.record.transcript), /late words/);
    });
  }

  for (const [name, options, code] of [
    ["a stop", { how: "stop" }, "CANCELLED"],
    ["its turn's deadline", { how: "deadline" }, "TIMEOUT"],
    ["its own timeout", { how: "timeout" }, "TIMEOUT"],
    ["its own end", { how: "end" }, "TOOL_FAILED"],
  ]) {
    test(`D-12 a context that is used after ${name} answers ${code}`, async () => {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const note = definePart({ name: "note", schema: anything });
      let context;
      const timeoutMs = options.how === "timeout" ? { timeoutMs: 10 } : {};
      const tool = toolOf(
        "keep",
        (_input, given) => ((context = given), options.how === "end" ? 1 : new Promise(() => {})),
        timeoutMs,
      );
      const running = keel.run(
        agentOf([toolCall("keep"), text("done")], { tools: [tool], emits: [note] }),
        "go",
        options.how === "deadline" ? { budget: { timeMs: 10 } } : {},
      );
      await clock.advance(10);
      if (options.how === "stop") await keel.stop(context.turnId);
      await running;
      await assert.rejects(context.callTool("keep", {}), { code });
      assert.throws(() => context.emit(note, {}), { code });
      context.progress({ done: 1 });
      assert.deepEqual(context.budget, { stepsLeft: 0, toolCallsLeft: 0, timeLeftMs: 0 });
      assert.equal(context.callId, "call-1");
      assert.equal(context.signal.aborted, options.how !== "end");
    });
  }

  test("BL-035 the end of an abandoned call says that its effect is unknown", async () => {
    const stop = new AbortController();
    const tool = toolOf("write", () => (queueMicrotask(() => stop.abort("no")), new Promise(() => {})));
    const keel = createKeel();
    const { turnId } = await keel.run(agentOf([[toolCall("write"), toolCall("nobody")]], { tools: [tool] }), "go", {
      signal: stop.signal,
    });
    const events = await keel.records.events(turnId);
    const [{ error }] = ofType(events, "tool.failed");
    assert.equal(error.code, "CANCELLED");
    assert.match(error.message, /unknown/);
    assert.equal(ofType(events, "tool.refused")[0].error.code, "TOOL_NOT_FOUND");
  });

  test("BL-027 a stop in the microtask in which the last call resolves: one outcome, never both", async () => {
    const keel = createKeel();
    const seen = new Set();
    for (let round = 0; round < 60; round += 1) {
      const stop = new AbortController();
      const late = deferred();
      const agent = agentOf([toolCall("work"), text("done")], { tools: [toolOf("work", () => late.promise)] });
      const running = keel.run(agent, "go", { signal: stop.signal });
      await immediate();
      const steps = [() => stop.abort("no"), () => late.resolve(1)];
      let acknowledged = false;
      const order = round % 2 === 0 ? steps : steps.toReversed();
      order[0]();
      for (let tick = 0; tick < round % 30; tick += 1) await Promise.resolve();
      order[1]();
      acknowledged = stop.signal.aborted;
      const { outcome, turnId } = await running;
      if (order[0] === steps[0]) assert.equal(outcome.status, "stopped");
      assert.ok(acknowledged);
      seen.add(outcome.status);
      const ends = ofType(await keel.records.events(turnId), "turn.completed", "turn.stopped", "turn.failed");
      assert.equal(ends.length, 1);
      assert.equal(ends[0].type, `turn.${outcome.status}`);
    }
    assert.deepEqual([...seen].toSorted(), ["completed", "stopped"]);
  });
});

describe("causes", () => {
  test("BL-031 D-2 a stop, an own deadline, a caller's deadline and a caller's end are four causes", async () => {
    const seen = {};
    const childOf = () => agentOf([hang()], { id: "child" });
    const child = async (keel, result) => {
      const { outcome } = await keel.records.get(`${result.turnId}.1`);
      return [outcome.status, outcome.cause?.code, outcome.cause?.ceiling];
    };
    for (const how of ["stop", "own", "caller", "ended"]) {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const broken = agentOf([delay(50, fail(new Error("x")))], { id: "broken" });
      const tools = [
        asTool(childOf(), { retries: 2, ...(how === "own" && { budget: { timeMs: 50 } }) }),
        asTool(broken, { onError: "fail" }),
      ];
      const script = how === "ended" ? [[call, toolCall("run-broken", { brief: "x" })]] : [call, text("went on")];
      const running = keel.stream(
        agentOf(script, { id: "parent", tools }),
        "go",
        how === "caller" ? { budget: { timeMs: 50 } } : {},
      );
      await clock.advance(how === "own" ? 150 : 50);
      if (how === "stop") await running.stop("user");
      seen[how] = await child(keel, await running.result);
    }
    assert.deepEqual(seen, {
      stop: ["stopped", undefined, undefined],
      own: ["failed", "BUDGET_TIME", "own"],
      caller: ["failed", "BUDGET_TIME", "caller"],
      ended: ["failed", "PARENT_ENDED", undefined],
    });
  });

  test("D-2 BL-031 at one instant children expire first, then the parent", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const child = agentOf([hang()], { id: "child" });
    const running = keel.run(parentOf(child, [call, text("never")], { budget: { timeMs: 100 }, retries: 3 }), "go", {
      budget: { timeMs: 100 },
    });
    await clock.advance(100);
    const result = await running;
    assert.equal(result.outcome.cause.code, "BUDGET_TIME");
    const records = (await keel.records.tree(result.turnId)).children;
    assert.equal(records.length, 1);
    const events = await keel.records.events(result.turnId, { tree: true });
    assert.deepEqual(
      ofType(events, "turn.failed").map(({ agentId }) => agentId),
      ["child", "parent"],
    );
  });

  test("BL-031 in a race the first to fire wins", async () => {
    for (const first of ["stop", "deadline"]) {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const stop = new AbortController();
      const running = keel.run(agentOf([hang({ ignoreAbort: true })]), "go", {
        signal: stop.signal,
        budget: { timeMs: 100 },
      });
      await clock.advance(first === "stop" ? 99 : 100);
      stop.abort("user");
      await clock.advance(10);
      const { outcome } = await running;
      assert.equal(outcome.cause?.code ?? outcome.reason, first === "stop" ? "user" : "BUDGET_TIME");
    }
  });

  test("NT-38 BL-036 when a turn ends, its three live children have ended before", async () => {
    const enders = {
      fails: {
        script: [[call, call, call, toolCall("run-broken", { brief: "x" })]],
        cause: "CHILD_FAILED",
        childs: "PARENT_ENDED",
      },
      "times out": {
        script: [[call, call, call]],
        options: { budget: { timeMs: 50 } },
        cause: "BUDGET_TIME",
        childs: "BUDGET_TIME",
      },
    };
    for (const { script, options = {}, cause, childs } of Object.values(enders)) {
      const clock = virtualClock();
      const keel = createKeel({ clock });
      const broken = agentOf([delay(50, fail(new Error("x")))], { id: "broken" });
      const child = agentOf(() => hang({ ignoreAbort: true }), { id: "child" });
      const running = keel.run(
        agentOf(script, { id: "parent", tools: [asTool(child), asTool(broken, { onError: "fail" })] }),
        "go",
        options,
      );
      await clock.advance(50);
      const result = await running;
      assert.equal(result.outcome.cause.code, cause);
      const records = (await keel.records.list({ agentId: "child" })).items;
      assert.deepEqual(
        records.map(({ outcome }) => outcome.cause.code),
        [childs, childs, childs],
      );
      assert.deepEqual((await keel.records.list({ status: "running" })).items, []);
      const events = await keel.records.events(result.turnId, { tree: true });
      assert.deepEqual(unpaired(events), []);
      assert.equal(events.at(-1).turnId, result.turnId);
    }
  });

  test("BL-021 every call's signal belongs to the run: of the root, of a child, of a retry, streamed", async () => {
    const signals = [];
    const tool = toolOf(
      "look",
      (_input, { signal, abortSignal }) => (
        assert.equal(signal, abortSignal),
        signals.push(signal),
        new Promise(() => {})
      ),
    );
    const keel = createKeel();
    const child = agentOf([fail(new Error("first")), toolCall("look")], { id: "child", tools: [tool] });
    const stop = new AbortController();
    const streams = [
      keel.stream(
        agentOf([[toolCall("look"), call]], { id: "parent", tools: [tool, asTool(child, { retries: 1 })] }),
        "go",
        { signal: stop.signal },
      ),
    ];
    await immediate();
    assert.equal(signals.length, 2);
    assert.ok(signals.every((signal) => signal instanceof AbortSignal && !signal.aborted));
    stop.abort("all");
    await streams[0].result;
    assert.ok(signals.every(({ aborted, reason }) => aborted && reason === "all"));
  });

  test("BL-033 observers of the signal disturb nothing", async () => {
    const tool = toolOf("watch", async (_input, { signal, progress }) => {
      const cancelled = new Promise((resolve) => signal.addEventListener("abort", resolve));
      for (let n = 0; n < 50; n += 1) void cancelled.then(String);
      await Promise.resolve();
      progress({ done: 1 });
      await Promise.resolve();
      return "fine";
    });
    const agent = agentOf([toolCall("watch"), text("done")], { tools: [tool] });
    assert.equal((await run(agent, "go")).text, "done");
    assert.deepEqual(outputsIn(agent.model.requests[1].messages), [{ type: "text", value: "fine" }]);
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
