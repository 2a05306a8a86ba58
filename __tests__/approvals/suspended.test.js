import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel } from "../../js/index.js";
import { delay, scriptedModel, text, virtualClock } from "../../js/testing/index.js";
import { callLines, failed, issue, leafOf } from "../scenes/calling.js";
import { agentOf, deferred, lastOutputs, ofType, toolOf, unpaired } from "../scenes/small-agents.js";

const immediate = () => new Promise((resolve) => setImmediate(resolve));
const payOf = () => leafOf("pay", ({ amount }) => `paid ${amount}`, { approval: "required" });
const childOf = (pay, id, amount) =>
  agentOf([issue("pay", { amount }, "call_0"), text(`${id} done`)], { id, tools: [pay.tool] });
const parentOf = (children, rest = {}) =>
  agentOf([children.map(({ id }) => issue(`run-${id}`, { brief: "x" }, id)), text("done")], {
    id: "parent",
    tools: children.map((child) => asTool(child)),
    ...rest,
  });
const allow = (pending) => Object.fromEntries(pending.map(({ id }) => [id, "allow"]));

describe("time", () => {
  test("D-5 what passes while a turn is suspended does not count", async () => {
    const clock = virtualClock();
    const pay = payOf();
    const agent = agentOf([delay(400, issue("pay", { amount: 1 })), delay(599, text("done"))], {
      tools: [pay.tool],
      budget: { timeMs: 1_000 },
    });
    const keel = createKeel({ clock });
    const running = keel.run(agent, "go");
    await clock.advance(400);
    const suspended = await running;
    assert.equal(suspended.outcome.status, "suspended");
    await clock.advance(1_000_000);
    assert.equal((await keel.records.get(suspended.turnId)).status, "suspended");
    const resumed = keel.resume(suspended.turnId, { approvals: allow(suspended.outcome.pending) });
    await clock.advance(599);
    const { outcome, record } = await resumed;
    assert.deepEqual([outcome.status, record.budget.used.timeMs, pay.runs.length], ["completed", 999, 1]);
  });

  test("D-5 the budget still ends the turn once it has gone on for as long as it may", async () => {
    const clock = virtualClock();
    const agent = agentOf([delay(400, issue("pay", { amount: 1 })), delay(600, text("late"))], {
      tools: [payOf().tool],
      budget: { timeMs: 1_000 },
    });
    const keel = createKeel({ clock });
    const running = keel.run(agent, "go");
    await clock.advance(400);
    const { turnId, outcome } = await running;
    await clock.advance(5_000);
    const resumed = keel.resume(turnId, { approvals: allow(outcome.pending) });
    await clock.advance(600);
    const result = await resumed;
    assert.deepEqual(
      [result.outcome.status, result.outcome.cause?.code, result.outcome.cause?.ceiling],
      ["failed", "BUDGET_TIME", "own"],
    );
    assert.deepEqual(unpaired(await keel.records.events(turnId)), []);
  });

  test("D-5 the caller's clock stands still with its only child's, and both go on together", async () => {
    const clock = virtualClock();
    const pay = payOf();
    const child = agentOf([delay(100, issue("pay", { amount: 1 })), delay(100, text("child done"))], {
      id: "child",
      tools: [pay.tool],
      budget: { timeMs: 300 },
    });
    const parent = parentOf([child], { budget: { timeMs: 300 } });
    const keel = createKeel({ clock });
    const running = keel.run(parent, "go");
    await clock.advance(100);
    const { turnId, outcome } = await running;
    await clock.advance(10_000);
    const resumed = keel.resume(turnId, { approvals: allow(outcome.pending) });
    await clock.advance(100);
    const result = await resumed;
    const [{ record }] = (await keel.records.tree(turnId)).children;
    assert.deepEqual(
      [result.outcome.status, result.record.budget.used.timeMs, record.budget.used.timeMs],
      ["completed", 200, 200],
    );
  });

  test("D-5 a sibling runs on; the turn is suspended once it has ended, and the clock counts until then", async () => {
    const clock = virtualClock();
    const slow = toolOf(
      "slow",
      () => new Promise((resolve) => clock.setTimer(clock.now() + 250, () => resolve("slow done"))),
    );
    const pay = payOf();
    const agent = agentOf([[issue("pay", { amount: 1 }, "p"), issue("slow", {}, "s")], text("done")], {
      tools: [pay.tool, slow],
    });
    const keel = createKeel({ clock });
    let isSuspended = false;
    const running = keel.run(agent, "go").then((result) => ((isSuspended = true), result));
    await clock.advance(249);
    assert.equal(isSuspended, false);
    await clock.advance(1);
    const { turnId, outcome, record } = await running;
    assert.deepEqual([outcome.status, record.budget.used.timeMs], ["suspended", 250]);
    assert.deepEqual(callLines(await keel.records.events(turnId)), ["started s", "completed s"]);
    const result = await keel.resume(turnId, { approvals: allow(outcome.pending) });
    assert.deepEqual(
      [result.outcome.status, lastOutputs(agent).map(({ value }) => value)],
      ["completed", ["paid 1", "slow done"]],
    );
  });

  test("D-5 a child that goes on keeps its parent's clock running while its sibling waits for a human", async () => {
    const clock = virtualClock();
    const pay = payOf();
    const busy = agentOf([delay(500, text("busy done"))], { id: "busy" });
    const keel = createKeel({ clock });
    const running = keel.run(parentOf([childOf(pay, "waits", 1), busy]), "go");
    await clock.advance(500);
    const { turnId, outcome } = await running;
    assert.deepEqual([outcome.status, outcome.pending.length], ["suspended", 1]);
    const events = await keel.records.events(turnId, { tree: true });
    const suspended = ofType(events, "turn.suspended").map((event) => [event.agentId, event.at - events[0].at]);
    assert.deepEqual(suspended, [
      ["waits", 0],
      ["parent", 500],
    ]);
    await clock.advance(9_000);
    const result = await keel.resume(turnId, { approvals: allow(outcome.pending) });
    const used = Object.fromEntries(
      (await keel.records.tree(turnId)).children.map(({ record }) => [record.agentId, record.budget.used.timeMs]),
    );
    assert.deepEqual([result.record.budget.used.timeMs, used], [500, { waits: 0, busy: 500 }]);
  });

  test("D-5 the time-out of a tool that has children stands still with them", async () => {
    const clock = virtualClock();
    const pay = payOf();
    const child = childOf(pay, "child", 1);
    const agent = agentOf([issue("run-child", { brief: "x" }), text("done")], {
      id: "parent",
      tools: [asTool(child)],
      limits: { toolTimeout: { inheritedMs: 50 } },
    });
    const keel = createKeel({ clock });
    const { turnId, outcome } = await keel.run(agent, "go");
    await clock.advance(1_000);
    assert.equal((await keel.resume(turnId, { approvals: allow(outcome.pending) })).outcome.status, "completed");
  });
});

describe("a stop while suspended", () => {
  const waiting = async (keelOptions) => {
    const pay = payOf();
    const keel = createKeel(keelOptions);
    const result = await keel.run(parentOf([childOf(pay, "child", 1)]), "go");
    return { pay, keel, result, turnId: result.turnId, pending: result.outcome.pending };
  };
  const records = async (keel, turnId) => {
    const { record, children } = await keel.records.tree(turnId);
    return [record, ...children.map((child) => child.record)].map(({ status, outcome }) => [status, outcome.reason]);
  };

  test("D-31 NT-27 keel.stop ends every turn of it with the reason, and nothing can be resumed", async () => {
    const { keel, turnId, pending, pay } = await waiting();
    assert.equal(await keel.stop(turnId, { reason: "changed my mind" }), true);
    assert.deepEqual(await records(keel, turnId), [
      ["stopped", "changed my mind"],
      ["stopped", "changed my mind"],
    ]);
    assert.equal((await failed(keel.resume(turnId, { approvals: allow(pending) }))).code, "OPTION_INVALID");
    assert.equal(await keel.stop(turnId), false);
    assert.equal(pay.runs.length, 0);
    const events = await keel.records.events(turnId, { tree: true });
    assert.deepEqual([unpaired(events), ofType(events, "turn.stopped").length], [[], 2]);
  });

  test("D-31 stopping the child alone lets its parent go on by itself", async () => {
    const { keel, turnId, pending } = await waiting();
    await keel.stop(pending[0].turnId, { reason: "not that one", scope: "subtree" });
    for (let round = 0; round < 5; round += 1) await immediate();
    const tree = await keel.records.tree(turnId);
    assert.deepEqual([tree.children[0].record.status, tree.record.status], ["stopped", "completed"]);
  });

  test('D-40 keel.close() ends it with the reason "closed", and resolves', async () => {
    const { keel, turnId, pending } = await waiting();
    await keel.close();
    assert.deepEqual(await records(keel, turnId), [
      ["stopped", "closed"],
      ["stopped", "closed"],
    ]);
    assert.equal((await failed(keel.resume(turnId, { approvals: allow(pending) }))).code, "KEEL_CLOSED");
  });

  test("D-31 the signal of the resume stops what goes on", async () => {
    const stop = new AbortController();
    const pay = payOf();
    const agent = agentOf([issue("pay", { amount: 1 }), delay(60_000, text("never"))], { tools: [pay.tool] });
    const keel = createKeel({ clock: virtualClock() });
    const { turnId, outcome } = await keel.run(agent, "go");
    const resumed = keel.resume(turnId, { approvals: allow(outcome.pending), signal: stop.signal });
    await immediate();
    stop.abort("enough");
    const result = await resumed;
    assert.deepEqual([result.outcome, pay.runs.length], [{ status: "stopped", reason: "enough" }, 1]);
  });

  test("D-31 BL-023 a signal that has fired already stops it before the call runs", async () => {
    const { keel, turnId, pending, pay } = await waiting();
    const result = await keel.resume(turnId, { approvals: allow(pending), signal: AbortSignal.abort("no") });
    assert.deepEqual([result.outcome, pay.runs.length], [{ status: "stopped", reason: "no" }, 0]);
  });

  test("D-31 while approve() is asked, a stop does not wait for its answer", async () => {
    const answer = deferred();
    const asked = deferred();
    const pay = payOf();
    const keel = createKeel({ approve: () => (asked.resolve(), answer.promise) });
    const stream = keel.stream(agentOf([issue("pay", { amount: 1 }), text("never")], { tools: [pay.tool] }), "go");
    await asked.promise;
    stream.stop("enough");
    assert.equal((await stream.result).outcome.status, "stopped");
    answer.resolve("allow");
    await immediate();
    assert.equal(pay.runs.length, 0);
  });
});

describe("approvals in two children at once", () => {
  test("D-31 BL-064 both are pending, each under its own turn, and each decision lands on its own call", async () => {
    const pay = payOf();
    const children = [childOf(pay, "one", 1), childOf(pay, "two", 2)];
    const keel = createKeel();
    const parent = parentOf(children);
    const { turnId, outcome } = await keel.run(parent, "go");
    const [one, two] = outcome.pending;
    assert.deepEqual(
      [one.callId, two.callId, one.id === two.id, one.turnId === two.turnId],
      ["call_0", "call_0", false, false],
    );
    assert.deepEqual(
      [one.path, two.path],
      [
        [turnId, one.turnId],
        [turnId, two.turnId],
      ],
    );
    const second = await keel.resume(turnId, { approvals: { [two.id]: "allow" } });
    assert.deepEqual([second.outcome.pending, pay.runs], [[one], [{ amount: 2 }]]);
    const last = await keel.resume(turnId, { approvals: { [one.id]: { deny: "no" } } });
    assert.equal(last.outcome.status, "completed");
    assert.deepEqual(
      children.map((child) => lastOutputs(child)[0].value),
      ["call 'pay' denied: no", "paid 2"],
    );
    assert.deepEqual(unpaired(await keel.records.events(turnId, { tree: true })), []);
  });

  test("D-31 both at once; two children of one definition", async () => {
    const pay = payOf();
    const child = agentOf(scriptedModel([issue("pay", { amount: 1 }), text("done")], { perTurn: true }), {
      id: "child",
      tools: [pay.tool],
    });
    const step = ["a", "b"].map((id) => issue("run-child", { brief: id }, id));
    const keel = createKeel();
    const { turnId, outcome } = await keel.run(
      agentOf([step, text("done")], { id: "parent", tools: [asTool(child)] }),
      "go",
    );
    const { outcome: end } = await keel.resume(turnId, { approvals: allow(outcome.pending) });
    assert.deepEqual([end.status, pay.runs.length], ["completed", 2]);
  });

  test("BL-077 what a child did before it waited is not done again", async () => {
    const leaf = leafOf();
    const pay = payOf();
    const child = agentOf([issue("leaf", {}, "l"), issue("pay", { amount: 1 }, "p"), text("child done")], {
      id: "child",
      tools: [leaf.tool, pay.tool],
    });
    const keel = createKeel();
    const { turnId, outcome } = await keel.run(parentOf([child]), "go");
    await keel.resume(turnId, { approvals: allow(outcome.pending) });
    assert.deepEqual([leaf.runs.length, pay.runs.length, child.model.requests.length], [1, 1, 3]);
  });
});
