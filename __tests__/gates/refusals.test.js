import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { defineMiddleware } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { callLines, calling, failed, issue, leafOf, overlap, refusal, summaryOf } from "../scenes/calling.js";
import { ofType } from "../scenes/small-agents.js";

const immediate = () => new Promise((resolve) => setImmediate(resolve));
const capped = (tool, parent = "p1") =>
  `nested call '${tool}' refused: tool call '${parent}' already had 8 nested calls refused`;

describe("a refused call gives its place in the budget back", () => {
  test("NC-50 cap 2: a call that does not exist, then one that does", async () => {
    const { tool, runs } = leafOf();
    const body = async ({ callTool }) => [
      await refusal(callTool("ghost")),
      await callTool("leaf").then((result) => result.text),
    ];
    const { returned, result } = await calling(body, [tool], { agent: { budget: { toolCalls: 2 } } });
    assert.deepEqual(returned, [["TOOL_NOT_FOUND", "tool not found: ghost"], "leaf-out"]);
    assert.deepEqual(
      [runs.length, result.record.budget.used.toolCalls, result.record.budget.used.nestedCalls],
      [1, 1, 1],
    );
  });

  test("NC-50 BL-074 one that needs an approval, whatever asks for it, does so too", async () => {
    const asking = leafOf("asking", undefined, { approval: "required" });
    const { tool, runs } = leafOf();
    const body = async ({ callTool }) => [
      await refusal(callTool("asking")),
      await callTool("leaf").then((result) => result.text),
    ];
    const { returned, result, events } = await calling(body, [tool, asking.tool], {
      agent: { budget: { toolCalls: 2 } },
    });
    assert.deepEqual(returned, [
      ["TOOL_FAILED", "nested call 'asking' requires approval; nested calls cannot be deferred"],
      "leaf-out",
    ]);
    assert.deepEqual([runs.length, asking.runs.length, result.outcome.status], [1, 0, "completed"]);
    assert.equal(ofType(events, "approval.requested", "turn.suspended").length, 0);
  });

  test("NC-51 one that is abandoned while a check hangs does so too", async () => {
    const hangs = defineMiddleware({
      name: "hangs",
      checkNestedTool: (_context, { toolId }) => (toolId === "stuck" ? new Promise(() => {}) : undefined),
    });
    const stuck = leafOf("stuck");
    const { tool, runs } = leafOf();
    const body = async ({ callTool }) => {
      const stop = new AbortController();
      const waiting = callTool("stuck", {}, { signal: stop.signal });
      await immediate();
      const full = await refusal(callTool("leaf"));
      stop.abort();
      const abandoned = await failed(waiting);
      return [full, abandoned, (await callTool("leaf")).text];
    };
    const { returned, events, result } = await calling(body, [stuck.tool, tool], {
      agent: { budget: { toolCalls: 2 } },
      keel: { middleware: [hangs] },
    });
    const [full, abandoned, out] = returned;
    assert.deepEqual(full, ["LIMIT_EXCEEDED", "max tool calls (2) exceeded by a nested tool call"]);
    assert.deepEqual(
      [abandoned.code, abandoned.message.startsWith("parent settled: "), out],
      ["TOOL_FAILED", true, "leaf-out"],
    );
    assert.deepEqual([runs.length, stuck.runs.length, result.record.budget.used.nestedCalls], [1, 0, 1]);
    assert.deepEqual(
      summaryOf(events).map(({ id, status }) => [id, status]),
      [
        ["p1/2", "failed"],
        ["p1/1", "abandoned"],
        ["p1/3", "ok"],
      ],
    );
    assert.deepEqual(
      callLines(events).filter((line) => line.endsWith("p1/1")),
      [],
      "it never started, so nothing tells of its end",
    );
  });

  test("D-9 the model's refused calls release theirs as well", async () => {
    const { tool, runs } = leafOf();
    const script = [[toolCall("ghost", {}, { id: "g" }), issue("leaf", {}, "l")], text("done")];
    const { result } = await calling(() => {}, [tool], { script, agent: { budget: { toolCalls: 1 } } });
    assert.deepEqual([runs.length, result.outcome.status, result.record.budget.used.toolCalls], [1, "completed", 1]);
  });
});

describe("the cap of a step", () => {
  const three = [["a", "b", "c"].map((id) => issue("leaf", { id }, id)), text("done")];

  test("D-9 calls are admitted in request order before any body starts; the rest is answered as refused", async () => {
    for (const [behavior, status] of [
      ["error", "failed"],
      ["stopWithPartial", "completed"],
    ]) {
      const order = [];
      const gate = defineMiddleware({
        name: "gate",
        nested: "exempt",
        beforeTool: async (_context, { callId }) => (await immediate(), void order.push(`admit ${callId}`)),
      });
      const { tool } = leafOf("leaf", (input) => (order.push(`run ${input.id}`), input.id));
      const { result, events } = await calling(() => {}, [tool], {
        script: three,
        agent: { budget: { toolCalls: 2 }, limits: { behavior } },
        keel: { middleware: [gate] },
      });
      assert.deepEqual(order, ["admit a", "admit b", "run a", "run b"]);
      assert.deepEqual(callLines(events), ["refused c", "started a", "started b", "completed a", "completed b"]);
      assert.equal(result.outcome.status, status);
      if (status === "failed") assert.equal(result.outcome.cause.code, "BUDGET_TOOL_CALLS");
      else assert.equal(result.partial, true);
      assert.deepEqual(
        result.record.transcript.at(-1).content.map(({ output }) => output.type),
        ["text", "text", "error-text"],
      );
    }
  });

  test("D-9 as many calls as the cap are fine", async () => {
    const { tool, runs } = leafOf();
    const { result } = await calling(() => {}, [tool], { script: three, agent: { budget: { toolCalls: 3 } } });
    assert.deepEqual([runs.length, result.outcome.status], [3, "completed"]);
  });
});

describe("the refusal cap", () => {
  test("NC-53 evaluates 8 refusals in a row and no more; the numbers go on", async () => {
    const body = async ({ callTool }) => {
      const messages = [];
      for (let n = 0; n < 10; n += 1) messages.push((await failed(callTool("ghost"))).message);
      return messages;
    };
    const { returned, events } = await calling(body);
    assert.deepEqual(returned, [...Array(8).fill("tool not found: ghost"), capped("ghost"), capped("ghost")]);
    assert.deepEqual(
      summaryOf(events).map(({ id }) => id),
      Array.from({ length: 10 }, (_, n) => `p1/${n + 1}`),
    );
  });

  test("NC-53 after 7 refusals a valid call still runs, and after 8 none does", async () => {
    for (const [refusals, outcome] of [
      [7, "leaf-out"],
      [8, capped("leaf")],
    ]) {
      const { tool, runs } = leafOf();
      const body = async ({ callTool }) => {
        for (let n = 0; n < refusals; n += 1) await failed(callTool("ghost"));
        return callTool("leaf").then(
          (result) => result.text,
          ({ message }) => message,
        );
      };
      const { returned } = await calling(body, [tool]);
      assert.deepEqual([returned, runs.length], [outcome, refusals === 7 ? 1 : 0]);
    }
  });

  test("NC-53 is each calling call's own, also of a nested one", async () => {
    const middle = leafOf("middle", async (_input, { callTool }) => {
      for (let n = 0; n < 8; n += 1) await failed(callTool("ghost"));
      return (await failed(callTool("ghost"))).message;
    });
    const body = async ({ callTool }) => [(await callTool("middle")).text, (await failed(callTool("ghost"))).message];
    const { returned } = await calling(body, [middle.tool]);
    assert.deepEqual(returned, [capped("ghost", "p1/1"), "tool not found: ghost"]);
  });

  test("NC-54 of 20 parallel calls to nothing exactly 12 are refused unseen", async () => {
    let checked = 0;
    for (const rest of [
      {},
      {
        keel: {
          middleware: [
            defineMiddleware({
              name: "slow",
              checkNestedTool: async () => (await immediate(), { deny: `no ${(checked += 1)}` }),
            }),
          ],
        },
      },
    ]) {
      const { tool } = leafOf();
      const target = rest.keel ? "leaf" : "ghost";
      const body = async ({ callTool }) =>
        (await Promise.all(Array.from({ length: 20 }, () => failed(callTool(target))))).map(({ message }) => message);
      const { returned } = await calling(body, [tool], rest);
      assert.equal(returned.filter((message) => message === capped(target)).length, 12);
    }
    assert.equal(checked, 8);
  });

  test("NC-55 12 parallel valid calls are never refused, and overlap", async () => {
    const slow = defineMiddleware({ name: "slow", checkNestedTool: async () => void (await immediate()) });
    const live = overlap();
    const { tool, runs } = leafOf("leaf", async () => {
      live.enter();
      await immediate();
      live.leave();
      return "ok";
    });
    const body = ({ callTool }) =>
      Promise.all(Array.from({ length: 12 }, () => callTool("leaf").then((result) => result.text)));
    const { returned } = await calling(body, [tool], { keel: { middleware: [slow] } });
    assert.deepEqual([returned, runs.length], [Array(12).fill("ok"), 12]);
    assert.ok(live.peak > 1, `overlap ${live.peak}`);
  });

  test("NC-55 valid and refused calls at once: 30 valid ones among 7 refused all run", async () => {
    const { tool, runs } = leafOf();
    const names = Array.from({ length: 37 }, (_, n) => (n % 5 === 0 && n < 35 ? "ghost" : "leaf"));
    assert.equal(names.filter((name) => name === "ghost").length, 7);
    const body = ({ callTool }) => Promise.allSettled(names.map((name) => callTool(name)));
    await calling(body, [tool]);
    assert.equal(runs.length, 30);
  });

  test("NC-56 results, raised errors and time-outs are no refusals", async () => {
    const raising = leafOf("raising", () => {
      throw new Error("x");
    });
    const { tool, runs } = leafOf();
    const body = async ({ callTool }) => {
      for (let n = 0; n < 12; n += 1) await failed(callTool("raising"));
      return (await callTool("leaf")).text;
    };
    const { returned } = await calling(body, [raising.tool, tool]);
    assert.deepEqual([returned, runs.length], ["leaf-out", 1]);
  });
});
