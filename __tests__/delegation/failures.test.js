import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, run } from "../../js/index.js";
import { fail, hang, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, parentOf, toolOf, unpaired } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

const failing = (message = "no model today") => fail(new Error(message));

describe("a failing child", () => {
  test('NT-28 NT-37 onError "feedback" lets the caller answer: a failed child under a completed root', async () => {
    const child = agentOf([failing()], { id: "child" });
    const keel = createKeel();
    const parent = parentOf(child, [call, text("I could not find out")]);
    const result = await keel.run(parent, "go");
    assert.equal(result.text, "I could not find out");
    const tree = await keel.records.tree(result.turnId);
    assert.deepEqual([tree.record.status, tree.children[0].record.status], ["completed", "failed"]);
    const [{ type, value }] = lastOutputs(parent);
    assert.deepEqual(
      [type, value.ok, value.cause.code, value.turnId],
      ["error-json", false, "MODEL_ERROR", `${result.turnId}.1`],
    );
    assert.match(value.cause.message, /agent 'child'.*no model today/);
  });

  test('NT-28 onError "fail" fails the caller with CHILD_FAILED and aborts its other calls', async () => {
    let signal;
    const child = agentOf([failing()], { id: "child" });
    const slow = toolOf("slow", (_input, context) => ((signal = context.signal), new Promise(() => {})));
    const parent = agentOf([[toolCall("slow"), call], text("never")], {
      id: "parent",
      tools: [slow, asTool(child, { onError: "fail" })],
    });
    const keel = createKeel();
    const result = await keel.run(parent, "go");
    const { cause } = result.outcome;
    assert.deepEqual(
      [cause.code, cause.cause.code, cause.cause.turnId],
      ["CHILD_FAILED", "MODEL_ERROR", `${result.turnId}.1`],
    );
    assert.equal(cause.cause.cause.message, "no model today");
    assert.equal(signal.aborted, true);
    assert.equal(parent.model.requests.length, 1);
    assert.deepEqual(unpaired(await keel.records.events(result.turnId, { tree: true })), []);
    assert.throws(
      () => result.orThrow(),
      (error) => error.code === "CHILD_FAILED" && error.cause.code === "MODEL_ERROR",
    );
  });

  test('NT-28 NT-02 onError "fail" two levels down stops at the first connection that says "feedback"', async () => {
    const child = agentOf([failing()], { id: "child" });
    const middle = agentOf([call], { id: "middle", tools: [asTool(child, { onError: "fail" })] });
    const root = agentOf([toolCall("run-middle", { brief: "x" }), text("went on")], {
      id: "root",
      tools: [asTool(middle)],
    });
    const result = await run(root, "go");
    const { cause } = lastOutputs(root)[0].value;
    assert.deepEqual([result.text, cause.code, cause.cause.code], ["went on", "CHILD_FAILED", "MODEL_ERROR"]);
  });

  test("BL-045 NT-29 of 75 parallel children one answers in prose: 74 results and one failure, and the parent goes on", async () => {
    const report = definePart({ name: "report", schema: anything, persist: "content" });
    const child = () =>
      agentOf(
        ({ messages }) =>
          messages[0].content === "13" ? text("prose") : toolCall("submit_report", { of: messages[0].content }),
        { id: "child", emits: [report] },
      );
    const calls = Array.from({ length: 75 }, (_, n) => toolCall("run-child", { brief: String(n) }));
    const deliverable = { part: report, nudges: 0 };
    const parent = parentOf(child(), [calls, text("done")], { deliverable }, { budget: { toolCalls: 75 } });
    assert.equal((await run(parent, "go")).text, "done");
    const outputs = lastOutputs(parent);
    for (const [n, { type, value }] of outputs.entries()) {
      if (n === 13) assert.deepEqual([type, value.cause.code], ["error-json", "DELIVERABLE_MISSING"]);
      else assert.deepEqual(value, { ok: true, deliverable: { of: String(n) } });
    }
    const strict = parentOf(
      child(),
      [calls, text("never")],
      { deliverable, onError: "fail" },
      { budget: { toolCalls: 75 } },
    );
    const keel = createKeel();
    const result = await keel.run(
      agentOf([toolCall("run-parent", { brief: "x" }), text("caught")], { id: "root", tools: [asTool(strict)] }),
      "go",
    );
    assert.equal(result.text, "caught");
    assert.deepEqual((await keel.records.get(`${result.turnId}.1`)).outcome.cause.code, "CHILD_FAILED");
  });

  for (const [how, model] of [
    [
      "throws at once",
      {
        id: "m",
        generate: () => {
          throw new TypeError("adapter bug");
        },
      },
    ],
    [
      "rejects",
      {
        id: "m",
        generate: async () => {
          throw new TypeError("adapter bug");
        },
      },
    ],
    ["answers nonsense", { id: "m", generate: async () => 5 }],
    ["answers nothing", { id: "m", generate: async () => undefined }],
  ]) {
    test(`BL-042 BL-066 a child whose model ${how} fails alone, with its name and a cause`, async () => {
      const broken = agentOf(model, { id: "broken" });
      const child = agentOf(() => text("fine"), { id: "child" });
      const parent = agentOf([[call, call, toolCall("run-broken", { brief: "x" }), call], text("done")], {
        id: "parent",
        tools: [asTool(child), asTool(broken)],
      });
      const keel = createKeel();
      const result = await keel.run(parent, "go");
      const values = lastOutputs(parent).map(({ value }) => value);
      assert.deepEqual(
        values.map(({ ok }) => ok),
        [true, true, false, true],
      );
      assert.equal(values[2].cause.code, "MODEL_ERROR");
      assert.match(values[2].cause.message, /agent 'broken'/);
      assert.equal(
        (await keel.records.list({ rootTurnId: result.turnId, status: "failed" })).items[0].agentId,
        "broken",
      );
    });
  }

  test("BL-042 a child with 300 tools runs", async () => {
    const tools = Array.from({ length: 300 }, (_, n) => toolOf(`tool_${n}`, () => n));
    const child = agentOf([toolCall("tool_299"), text("fine")], { id: "child", tools });
    const parent = parentOf(child, [call, text("done")]);
    await run(parent, "go");
    assert.equal(lastOutputs(child)[0].value, 299);
    assert.equal(lastOutputs(parent)[0].value.text, "fine");
  });
});

describe("retries", () => {
  test("NT-24 a failed child is retried with a fresh turn on a fresh grant, and nothing carries over", async () => {
    const child = agentOf([[text("half"), toolCall("note")], failing(), text("second try")], {
      id: "child",
      tools: [toolOf("note")],
      budget: { steps: 2 },
    });
    const keel = createKeel();
    const parent = parentOf(child, [call, text("done")], { retries: 1 });
    const { turnId } = await keel.run(parent, "go");
    const { children } = await keel.records.tree(turnId);
    assert.deepEqual(
      children.map(({ record }) => [record.turnId, record.attempt, record.status, record.callId]),
      [
        [`${turnId}.1`, 1, "failed", children[0].record.callId],
        [`${turnId}.2`, 2, "completed", children[0].record.callId],
      ],
    );
    assert.deepEqual(child.model.requests[2].messages, [{ role: "user", content: "x" }]);
    assert.deepEqual(lastOutputs(parent)[0].value, { ok: true, text: "second try", parts: [] });
    const [retried] = ofType(await keel.records.events(turnId), "turn.retried");
    assert.deepEqual([retried.attempt, retried.failedTurnId, retried.cause.code], [2, `${turnId}.1`, "MODEL_ERROR"]);
  });

  for (const [retries, attempts] of [
    [0, 1],
    [2, 3],
  ]) {
    test(`NT-24 retries: ${retries} makes at most ${attempts} attempts, and the last failure counts`, async () => {
      let n = 0;
      const child = agentOf(() => failing(`attempt ${(n += 1)}`), { id: "child" });
      const parent = parentOf(child, [call, text("done")], { retries });
      await run(parent, "go");
      assert.equal(n, attempts);
      assert.match(lastOutputs(parent)[0].value.cause.message, new RegExp(`attempt ${attempts}`));
    });
  }

  test("BL-030 NT-24 an attempt begins after the one before is over: never two live ones", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const child = agentOf(() => hang({ ignoreAbort: true }), { id: "child" });
    const parent = parentOf(child, [call, text("done")], { retries: 2, budget: { timeMs: 100 } });
    const running = keel.run(parent, "go");
    const live = [];
    for (let at = 0; at < 300; at += 50) {
      await clock.advance(50);
      live.push((await keel.records.list({ agentId: "child", status: "running" })).items.length);
    }
    const result = await running;
    assert.ok(
      live.every((count) => count <= 1),
      String(live),
    );
    const events = await keel.records.events(result.turnId, { tree: true });
    const ofChild = ofType(events, "turn.started", "turn.failed").filter(({ agentId }) => agentId === "child");
    assert.deepEqual(
      ofChild.map(({ type }) => type),
      Array.from({ length: 3 }, () => ["turn.started", "turn.failed"]).flat(),
    );
    const records = (await keel.records.tree(result.turnId)).children.map(({ record }) => record);
    assert.deepEqual(
      records.map(({ attempt, callId }) => [attempt, callId]),
      [1, 2, 3].map((n) => [n, records[0].callId]),
    );
  });

  test("NT-24 a stopped child is never retried", async () => {
    const keel = createKeel();
    const child = agentOf(
      [({ messages: _ }, { turnId }) => (void keel.stop(turnId, { scope: "subtree", reason: "enough" }), hang())],
      { id: "child" },
    );
    const parent = parentOf(child, [call, text("went on")], { retries: 5 });
    const result = await keel.run(parent, "go");
    assert.equal(result.text, "went on");
    assert.deepEqual([child.model.requests.length, lastOutputs(parent)[0].value.cause.code], [1, "STOPPED"]);
  });

  test("NT-24 there is no retry once the caller is out of time", async () => {
    const clock = virtualClock();
    const child = agentOf(() => hang(), { id: "child" });
    const parent = parentOf(child, [call, text("never")], { retries: 5 });
    const running = createKeel({ clock }).run(parent, "go", { budget: { timeMs: 100 } });
    await clock.advance(1_000);
    assert.equal((await running).outcome.cause.code, "BUDGET_TIME");
    assert.equal(child.model.requests.length, 1);
  });

  test('NT-24 with onError "fail" the caller fails after the last attempt', async () => {
    const child = agentOf(() => failing(), { id: "child" });
    const { outcome } = await run(parentOf(child, [call], { retries: 1, onError: "fail" }), "go");
    assert.deepEqual([outcome.cause.code, child.model.requests.length], ["CHILD_FAILED", 2]);
  });
});
