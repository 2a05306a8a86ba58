import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { defineMiddleware, memoryLedger } from "../../js/index.js";
import { virtualClock } from "../../js/testing/index.js";
import { callLines, calling, failed, leafOf, summaryOf } from "../scenes/calling.js";
import { deferred, ofType, toolOf, unpaired } from "../scenes/small-agents.js";

const immediate = () => new Promise((resolve) => setImmediate(resolve));

/** A tool that never ends by itself, and what it saw. */
function stuckOf(id = "stuck", rest = {}) {
  const seen = { contexts: [], settle: deferred() };
  const execute = (_input, context) => (seen.contexts.push(context), seen.settle.promise);
  return { ...seen, tool: toolOf(id, execute, { concurrency: "shared", ...rest }) };
}

describe("a parent that ends first", () => {
  test("NC-67 its time-out ends the child before itself, each once", async () => {
    const clock = virtualClock();
    const stuck = stuckOf();
    const ledger = memoryLedger();
    const { events, outputs, result } = await calling(({ callTool }) => callTool("stuck"), [stuck.tool], {
      caller: { timeoutMs: 50 },
      keel: { clock, ledger },
      meanwhile: () => clock.advance(50),
    });
    assert.deepEqual(callLines(events), ["started p1", "started p1/1", "failed p1/1", "completed p1"]);
    const child = events.find(({ type }) => type === "tool.failed");
    assert.match(child.error.message, /^parent settled: /);
    assert.deepEqual(outputs, [{ type: "error-text", value: "tool `caller` timed out after 50 ms" }]);
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(
      ledger.rows().map(({ callId, status }) => [callId, status]),
      [
        ["p1", "completed"],
        ["p1/1", "started"],
      ],
    );
    assert.deepEqual(
      summaryOf(events).map(({ id, status }) => [id, status]),
      [["p1/1", "abandoned"]],
    );
    assert.deepEqual([stuck.contexts[0].signal.aborted, unpaired(events)], [true, []]);
  });

  test("NC-67 at 49 ms it is still waited for", async () => {
    const clock = virtualClock();
    const leaf = leafOf("leaf", () => new Promise((resolve) => clock.setTimer(49, () => resolve("just in time"))));
    const { returned } = await calling(({ callTool }) => callTool("leaf"), [leaf.tool], {
      caller: { timeoutMs: 50 },
      keel: { clock },
      meanwhile: () => clock.advance(100),
    });
    assert.equal(returned.text, "just in time");
  });

  test("NC-67 grandchildren end before children, deepest first", async () => {
    const stuck = stuckOf();
    const middle = toolOf("middle", (_input, { callTool }) => callTool("stuck"), { concurrency: "shared" });
    const body = async ({ callTool }) => {
      callTool("middle");
      callTool("middle");
      await immediate();
    };
    const { events } = await calling(body, [stuck.tool, middle]);
    const ends = callLines(events).slice(5);
    assert.equal(ends.at(-1), "completed p1");
    for (const id of ["p1/1", "p1/2"])
      assert.ok(ends.indexOf(`failed ${id}/1`) < ends.indexOf(`failed ${id}`), ends.join());
    assert.deepEqual(unpaired(events), []);
  });

  test("NC-67 a stop ends both, with its own reason", async () => {
    const stuck = stuckOf();
    const { events, result } = await calling(({ callTool }) => callTool("stuck"), [stuck.tool], {
      run: { signal: AbortSignal.timeout(20) },
    });
    assert.deepEqual(callLines(events), ["started p1", "started p1/1", "failed p1/1", "failed p1"]);
    assert.deepEqual(
      ofType(events, "tool.failed").map(({ error }) => error.code),
      ["CANCELLED", "CANCELLED"],
    );
    assert.equal(result.outcome.status, "stopped");
  });

  test("NC-69 while an observer hangs: exactly one terminal event each", async () => {
    const clock = virtualClock();
    const observer = defineMiddleware({ name: "observer", observeNestedResult: () => new Promise(() => {}) });
    const leaf = leafOf();
    const { events, result } = await calling(({ callTool }) => callTool("leaf"), [leaf.tool], {
      caller: { timeoutMs: 50 },
      keel: { clock, middleware: [observer] },
      meanwhile: () => clock.advance(50),
    });
    assert.deepEqual(callLines(events), ["started p1", "started p1/1", "failed p1/1", "completed p1"]);
    assert.deepEqual([leaf.runs.length, result.outcome.status], [1, "completed"]);
  });
});

describe("a caller that stops waiting", () => {
  const abandoning = (stuck) => async (context) => {
    const stop = new AbortController();
    const waiting = context.callTool("stuck", {}, { signal: stop.signal });
    while (stuck.contexts.length === 0) await immediate();
    stop.abort();
    return failed(waiting);
  };

  test("NC-68 drops the call: abandoned, its signal aborted, its row left started, whatever comes late ignored", async () => {
    for (const late of ["result", "throw"]) {
      const stuck = stuckOf();
      const ledger = memoryLedger();
      const observed = [];
      const observer = defineMiddleware({
        name: "observer",
        observeNestedResult: (_context, { callId }) => void observed.push(callId),
      });
      const body = async (context) => {
        const error = await abandoning(stuck)(context);
        if (late === "result") stuck.settle.resolve("late");
        else stuck.settle.reject(new Error("late"));
        await immediate();
        return error;
      };
      const { returned, events } = await calling(body, [stuck.tool], { keel: { ledger, middleware: [observer] } });
      assert.equal(returned.code, "TOOL_FAILED");
      assert.match(returned.message, /^parent settled: /);
      assert.equal(stuck.contexts[0].signal.aborted, true);
      assert.deepEqual(callLines(events), ["started p1", "started p1/1", "failed p1/1", "completed p1"]);
      assert.deepEqual(
        ledger.rows().map(({ status }) => status),
        ["completed", "started"],
      );
      const [entry] = summaryOf(events);
      assert.equal(entry.status, "abandoned");
      assert.match(entry.error, /^parent settled: /);
      assert.deepEqual(observed, []);
    }
  });

  test("NC-68 a signal that is aborted already drops it before it begins", async () => {
    const leaf = leafOf();
    const { returned, events } = await calling(
      ({ callTool }) => failed(callTool("leaf", {}, { signal: AbortSignal.abort() })),
      [leaf.tool],
    );
    assert.deepEqual([returned.code, leaf.runs.length, summaryOf(events)[0].status], ["TOOL_FAILED", 0, "abandoned"]);
    assert.deepEqual(unpaired(events), []);
  });

  test("NC-68 a signal that fires after the answer changes nothing", async () => {
    const stop = new AbortController();
    const body = async ({ callTool }) => {
      const result = await callTool("leaf", {}, { signal: stop.signal });
      stop.abort();
      await immediate();
      return result.text;
    };
    const { returned, events } = await calling(body, [leafOf().tool]);
    assert.deepEqual([returned, summaryOf(events)[0].status], ["leaf-out", "ok"]);
  });

  test("NC-68 siblings go on", async () => {
    const stuck = stuckOf();
    const body = async (context) => {
      const sibling = context.callTool("leaf");
      await abandoning(stuck)(context);
      return (await sibling).text;
    };
    assert.equal((await calling(body, [stuck.tool, leafOf().tool])).returned, "leaf-out");
  });
});

describe("time", () => {
  test("NC-70 a child's own time-out is a result, and hurts no sibling", async () => {
    const clock = virtualClock();
    const stuck = stuckOf("stuck", { timeoutMs: 30 });
    const ledger = memoryLedger();
    const body = ({ callTool }) => Promise.all([callTool("stuck"), callTool("leaf")]);
    const { returned, events } = await calling(body, [stuck.tool, leafOf().tool], {
      keel: { clock, ledger },
      meanwhile: () => clock.advance(30),
    });
    assert.deepEqual(
      returned.map(({ isError, text: out }) => [isError, out]),
      [
        [true, "tool `stuck` timed out after 30 ms"],
        [false, "leaf-out"],
      ],
    );
    assert.equal(stuck.contexts[0].signal.aborted, true);
    assert.deepEqual(
      summaryOf(events).map(({ name, status }) => [name, status]),
      [
        ["leaf", "ok"],
        ["stuck", "error"],
      ],
    );
    assert.deepEqual(
      ledger.rows().map(({ status }) => status),
      ["completed", "completed", "completed"],
    );
  });

  test("NC-70 the turn's own end of time is a TIMEOUT for whoever still waits", async () => {
    const clock = virtualClock();
    const stuck = stuckOf();
    const seen = [];
    const body = async (context) => {
      seen.push(await failed(context.callTool("stuck")));
      seen.push(await failed(context.callTool("leaf")));
    };
    const { result, events } = await calling(body, [stuck.tool, leafOf().tool], {
      agent: { budget: { timeMs: 100 } },
      keel: { clock },
      meanwhile: () => clock.advance(100),
    });
    await immediate();
    assert.deepEqual(
      [result.outcome.cause.code, seen.map(({ code }) => code)],
      ["BUDGET_TIME", ["TIMEOUT", "TIMEOUT"]],
    );
    assert.match(seen[0].message, /^parent settled: /);
    assert.deepEqual([unpaired(events), ofType(events, "limit.reached").length], [[], 1]);
  });
});

describe("progress", () => {
  test("NC-71 of a nested call is nobody's; its caller's own still works", async () => {
    const leaf = leafOf("leaf", (_input, { progress }) => progress({ message: "inner" }));
    const body = async ({ callTool, progress }) => {
      await callTool("leaf");
      progress({ message: "outer" });
    };
    const { events } = await calling(body, [leaf.tool]);
    assert.deepEqual(
      ofType(events, "tool.progress").map(({ callId, message }) => [callId, message]),
      [["p1", "outer"]],
    );
  });
});
