import assert from "node:assert/strict";
import { test } from "node:test";

import { asTool, createKeel, memoryLedger } from "../../js/index.js";
import { cut, text, virtualClock } from "../../js/testing/index.js";
import {
  callerOf,
  callsIn,
  leafOf,
  metadataOf,
  nestedRun,
  ONE_CALL,
  rejection,
  summaryOf,
} from "../scenes/nested-runs.js";
import { agentOf, deferred, ofType, toolOf, unpaired } from "../scenes/small-agents.js";

const nextTask = () => new Promise((resolve) => setImmediate(resolve));

/** Runs one turn on a clock that the test moves; the caller keeps its context for later. */
function onClock(tools, given = {}) {
  const clock = virtualClock();
  const keel = createKeel({ clock, limits: { maxNestedDepth: 2, ...given.limits } });
  const run = keel.run(agentOf(ONE_CALL, { tools, ...given.agent }), "go");
  return { clock, keel, run };
}

test("D-12 a context used after its call settled answers TOOL_FAILED, already settled", async () => {
  const { leaf, seen } = leafOf();
  let kept;
  const caller = callerOf((context) => {
    kept = context;
    return "ok";
  });
  const { result } = await nestedRun({ tools: [caller, leaf] });
  assert.equal(result.outcome.status, "completed");
  assert.deepEqual(await rejection(kept.callTool("leaf", {})), {
    code: "TOOL_FAILED",
    message: "tool call 'p1' of 'caller' already settled",
  });
  assert.deepEqual(seen, []);
});

test("D-12 a context whose call a stop cut off answers CANCELLED", async () => {
  let kept;
  const caller = callerOf((context) => {
    kept = context;
    return new Promise(() => {});
  });
  const { keel, run } = onClock([caller]);
  await nextTask();
  await keel.stop(kept.turnId, { reason: "enough" });
  assert.equal((await run).outcome.status, "stopped");
  const { code, message } = await rejection(kept.callTool("leaf", {}));
  assert.equal(code, "CANCELLED");
  assert.match(message, /^tool call 'p1' of 'caller' already settled: /);
});

for (const [whose, tool, agent, status] of [
  ["the turn's deadline", {}, { budget: { timeMs: 50 } }, "failed"],
  ["its own timeout", { timeoutMs: 50 }, {}, "completed"],
]) {
  test(`D-12 a context whose call ${whose} cut off answers TIMEOUT, also to the call that tells that the time is over`, async () => {
    const { leaf, seen } = leafOf();
    const clock = virtualClock();
    let busyMs = 0;
    let kept;
    let atTheMoment;
    const caller = callerOf((context) => {
      kept = context;
      // The body was busy for too long; no timer had a chance to say so before it calls.
      busyMs = 50;
      atTheMoment = rejection(context.callTool("leaf", {}));
      return new Promise(() => {});
    }, tool);
    const keel = createKeel({ clock: { ...clock, now: () => clock.now() + busyMs }, limits: { maxNestedDepth: 1 } });
    const { outcome } = await keel.run(agentOf(ONE_CALL, { tools: [caller, leaf], ...agent }), "go");
    assert.equal(outcome.status, status);
    for (const refused of [atTheMoment, rejection(kept.callTool("leaf", {}))]) {
      const { code, message } = await refused;
      assert.equal(code, "TIMEOUT");
      assert.match(message, /^tool call 'p1' of 'caller' already settled: /);
    }
    assert.deepEqual(seen, []);
  });
}

test("D-12 NC-25 a call in the same breath as the stop is refused as cancelled, never left waiting", async () => {
  const { leaf, seen } = leafOf();
  const keel = createKeel({ limits: { maxNestedDepth: 1 } });
  const refused = deferred();
  const caller = callerOf((context) => {
    keel.stop(context.turnId);
    refused.resolve(rejection(context.callTool("leaf", {})));
    return new Promise(() => {});
  });
  const { outcome } = await keel.run(agentOf(ONE_CALL, { tools: [caller, leaf] }), "go");
  assert.equal(outcome.status, "stopped");
  assert.equal((await refused.promise).code, "CANCELLED");
  assert.deepEqual(seen, []);
});

test("D-12 a call dropped by its own signal rejects at once with TOOL_FAILED parent settled; what comes late changes nothing", async () => {
  const late = deferred();
  const reason = new Error("no longer needed");
  let childSignal;
  const { leaf } = leafOf((_input, { signal }) => {
    childSignal = signal;
    return late.promise;
  });
  let caught;
  const caller = callerOf(async ({ callTool }) => {
    const controller = new AbortController();
    const call = callTool("leaf", {}, { signal: controller.signal });
    await nextTask();
    controller.abort(reason);
    caught = await call.catch((error) => error);
    late.resolve("late");
    await nextTask();
    return "went on";
  });
  const ledger = memoryLedger();
  const { events, outputs } = await nestedRun({ tools: [caller, leaf], ledger });
  assert.equal(caught.code, "TOOL_FAILED");
  assert.match(caught.message, /^parent settled: /);
  assert.equal(caught.cause, reason);
  assert.equal(childSignal.aborted, true);
  assert.deepEqual(callsIn(events, "tool.failed"), ["p1/1"]);
  assert.deepEqual(unpaired(events), []);
  assert.equal(ledger.rows()[1].status, "started");
  assert.equal(summaryOf(events)[0].status, "abandoned");
  assert.deepEqual(outputs, [{ type: "text", value: "went on" }]);
});

test("BL-023 a signal that is aborted already: the call is refused at once, nothing of it runs, its reason is kept", async () => {
  const { leaf, seen } = leafOf();
  const child = agentOf([text("never")], { id: "child" });
  const caught = [];
  const caller = callerOf(async ({ callTool }) => {
    for (const tool of ["leaf", "run-child", "ghost"]) {
      caught.push(await callTool(tool, { brief: "x" }, { signal: AbortSignal.abort("x") }).catch((error) => error));
    }
    await callTool("leaf", {});
    return "went on";
  });
  const { events, result, outputs } = await nestedRun({
    tools: [caller, leaf, asTool(child)],
    agent: { budget: { toolCalls: 2 } },
  });
  for (const { code, message, cause } of caught) {
    assert.equal(code, "TOOL_FAILED");
    assert.match(message, /^parent settled: /);
    assert.equal(cause, "x");
  }
  assert.equal(seen.length, 1);
  assert.equal(child.model.requests.length, 0);
  assert.deepEqual(callsIn(events, "tool.started", "tool.refused"), ["p1", "p1/4"]);
  assert.deepEqual(
    summaryOf(events).map(({ id, status }) => `${id} ${status}`),
    ["p1/1 abandoned", "p1/2 abandoned", "p1/3 abandoned", "p1/4 ok"],
  );
  assert.equal(result.record.budget.used.nestedCalls, 1);
  assert.deepEqual(outputs, [{ type: "text", value: "went on" }]);
});

test("BL-021 every body has an AbortSignal of its turn: issued, nested, nested of nested, after a retry, streamed; a deadline fires it", async () => {
  const signals = {};
  const { leaf } = leafOf((_input, { callId, signal, abortSignal }) => {
    signals[callId] = signal;
    assert.equal(abortSignal, signal);
    return new Promise(() => {});
  });
  const middle = toolOf(
    "middle",
    ({ way }, { callId, signal, callTool }) => {
      signals[callId] = signal;
      return callTool("leaf", { way });
    },
    { concurrency: "shared" },
  );
  const caller = callerOf(({ callId, signal, callTool }) => {
    signals[callId] = signal;
    return Promise.all([callTool("leaf", {}), callTool("middle", {})]);
  });
  for (const way of ["run", "stream", "retried"]) {
    for (const id of Object.keys(signals)) delete signals[id];
    const clock = virtualClock();
    const keel = createKeel({ clock, limits: { maxNestedDepth: 2 } });
    const script = way === "retried" ? [cut(""), ...ONE_CALL] : ONE_CALL;
    const agent = agentOf(script, { tools: [caller, middle, leaf], budget: { timeMs: 60_000 } });
    const result = way === "stream" ? keel.stream(agent, "go").result : keel.run(agent, "go");
    await clock.advance(59_999);
    assert.deepEqual(Object.keys(signals).toSorted(), ["p1", "p1/1", "p1/2", "p1/2/1"], way);
    for (const signal of Object.values(signals)) assert.ok(signal instanceof AbortSignal && !signal.aborted);
    await clock.advance(1);
    assert.equal((await result).outcome.cause.code, "BUDGET_TIME");
    for (const signal of Object.values(signals)) assert.equal(signal.aborted, true);
  }
});

for (const [limits, timeoutMs, expected] of [
  [{}, 20, 20],
  [{}, undefined, undefined],
  [{ inheritedMs: 30 }, undefined, 30],
  [{ inheritedMs: 0 }, undefined, undefined],
  [{ inheritedMs: 30 }, "unbounded", undefined],
  [{ maxMs: 25 }, 40, 25],
  [{ minMs: 50 }, 20, 50],
  [{ minMs: 10, maxMs: 25 }, 20, 20],
  [{ inheritedMs: 100, maxMs: 25 }, undefined, 25],
]) {
  const shown = `${JSON.stringify(limits)}, tool ${timeoutMs ?? "without a timeout"}`;
  test(`D-20 a nested tool's time: limits ${shown}: ${expected === undefined ? "none" : `${expected} ms`}`, async () => {
    const { leaf } = leafOf(() => new Promise(() => {}), { ...(timeoutMs && { timeoutMs }) });
    const ends = [];
    const caller = callerOf(
      async ({ callTool }) => {
        const { isError, text: shownText } = await callTool("leaf", {});
        ends.push([isError, shownText]);
      },
      { timeoutMs: "unbounded" },
    );
    const { clock, keel, run } = onClock([caller, leaf], { limits: { toolTimeout: limits } });
    await clock.advance((expected ?? 10_000) - 1);
    assert.deepEqual(ends, []);
    await clock.advance(1);
    const { turnId } = (await keel.records.list()).items[0];
    if (expected !== undefined) {
      assert.deepEqual(ends, [[true, `tool \`leaf\` timed out after ${expected} ms`]]);
      assert.equal((await run).outcome.status, "completed");
      return;
    }
    assert.deepEqual(ends, []);
    await keel.stop(turnId);
    await run;
  });
}

test("D-20 grace: enforced later than reported", async () => {
  const { leaf } = leafOf(() => new Promise(() => {}), { timeoutMs: 20 });
  const ends = [];
  const caller = callerOf(async ({ callTool }) => void ends.push((await callTool("leaf", {})).text));
  const { clock, run } = onClock([caller, leaf], { limits: { toolTimeout: { graceMs: 5 } } });
  await clock.advance(24);
  assert.deepEqual(ends, []);
  await clock.advance(1);
  assert.deepEqual(ends, ["tool `leaf` timed out after 20 ms"]);
  await run;
});

test("NC-17 a parent that times out keeps the summary of what it had called", async () => {
  const { leaf } = leafOf();
  const caller = callerOf(
    async ({ callTool }) => {
      await callTool("leaf", {});
      return new Promise(() => {});
    },
    { timeoutMs: 10 },
  );
  const { clock, keel, run } = onClock([caller, leaf]);
  await clock.advance(10);
  const { turnId } = await run;
  const events = await keel.records.events(turnId);
  assert.deepEqual(
    metadataOf(events).nested_calls.map(({ id, status }) => `${id} ${status}`),
    ["p1/1 ok"],
  );
  assert.equal(ofType(events, "tool.completed").at(-1).error, "tool `caller` timed out after 10 ms");
});

test("BL-021 a body that runs after an approval has a live signal too, and so has what it calls", async () => {
  const signals = [];
  const { leaf } = leafOf((_input, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const caller = callerOf(
    ({ signal, callTool }) => {
      signals.push(signal);
      return callTool("leaf", {});
    },
    { approval: "required" },
  );
  const { keel, run } = onClock([caller, leaf]);
  const { outcome, turnId } = await run;
  const resumed = keel.resume(turnId, { approvals: { [outcome.pending[0].id]: "allow" } });
  while (signals.length < 2) await nextTask();
  for (const signal of signals) assert.ok(signal instanceof AbortSignal && !signal.aborted);
  await keel.stop(turnId, { reason: "enough" });
  assert.deepEqual((await resumed).outcome, { status: "stopped", reason: "enough" });
  for (const signal of signals) assert.deepEqual([signal.aborted, signal.reason], [true, "enough"]);
});
