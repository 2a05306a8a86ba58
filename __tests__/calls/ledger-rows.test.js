import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";

import { asTool, createKeel, memoryLedger, toolError } from "../../js/index.js";
import { text } from "../../js/testing/index.js";
import { callLines, calling, failed, issue, leafOf, refusal } from "../scenes/calling.js";
import { agentOf, lastOutputs, ofType, toolOf } from "../scenes/small-agents.js";

const thrower = (error) => () => {
  throw error;
};
const broken = thrower(new Error("disk full"));

/** A ledger in memory with some of its methods replaced. */
const ledgerOf = (rest = {}) => ({ ...memoryLedger(), ...rest });
const statuses = (ledger) => Object.fromEntries(ledger.rows().map(({ callId, status }) => [callId, status]));

describe("ledger rows", () => {
  test("NC-59 one per call, the model's and nested ones: completed, also where the tool reports its own failure; failed where it raised", async () => {
    const ledger = memoryLedger();
    const own = leafOf("own", thrower(toolError("no luck")));
    const raising = leafOf("raising", thrower(new Error("secret")));
    const body = async ({ callTool }) => {
      await callTool("leaf");
      await callTool("own");
      await failed(callTool("raising"));
      await failed(callTool("ghost"));
    };
    await calling(body, [leafOf().tool, own.tool, raising.tool], { keel: { ledger } });
    assert.deepEqual(statuses(ledger), { p1: "completed", "p1/1": "completed", "p1/2": "completed", "p1/3": "failed" });
    assert.deepEqual(
      ledger.rows().map(({ parentCallId, toolId }) => [parentCallId, toolId]),
      [
        [undefined, "caller"],
        ["p1", "leaf"],
        ["p1", "own"],
        ["p1", "raising"],
      ],
    );
  });

  test("NC-59 a model's call that raised is failed, too", async () => {
    const ledger = memoryLedger();
    await calling(thrower(new Error("x")), [], { keel: { ledger } });
    assert.deepEqual(statuses(ledger), { p1: "failed" });
  });

  test("NC-59 D-23 the hash is of the tool and its prepared arguments, whatever the order of their keys; two equal calls have two keys", async () => {
    const ledger = memoryLedger();
    const keys = [];
    const leaf = leafOf("leaf", (_input, { idempotencyKey }) => keys.push(idempotencyKey));
    const body = async ({ callTool }) => {
      await callTool("leaf", { b: 1, a: [2] });
      await callTool("leaf", { a: [2], b: 1 });
      await callTool("leaf", { a: [3], b: 1 });
    };
    await calling(body, [leaf.tool], { keel: { ledger } });
    const rows = ledger.rows().slice(1);
    assert.equal(rows[0].argsHash, createHash("sha256").update('leaf\0{"a":[2],"b":1}').digest("hex"));
    assert.deepEqual([rows[0].argsHash === rows[1].argsHash, rows[0].argsHash === rows[2].argsHash], [true, false]);
    assert.deepEqual([new Set(keys).size, keys], [3, rows.map(({ idempotencyKey }) => idempotencyKey)]);
  });

  test("BL-063 steps that reuse one provider id have rows and keys of their own", async () => {
    const ledger = memoryLedger();
    const leaf = leafOf();
    const script = [...Array.from({ length: 5 }, (_, n) => issue("leaf", { n }, "call_0")), text("done")];
    const { result } = await calling(() => {}, [leaf.tool], { script, keel: { ledger } });
    assert.deepEqual([leaf.runs.length, result.outcome.status], [5, "completed"]);
    for (const key of ["callId", "idempotencyKey"]) assert.equal(new Set(ledger.rows().map((row) => row[key])).size, 5);
  });

  test("D-22 a delegation has none; its child's calls have theirs, under the child's turn", async () => {
    const ledger = memoryLedger();
    const child = agentOf([issue("leaf"), text("ok")], { id: "child", tools: [leafOf().tool] });
    const parent = agentOf([issue("run-child", { brief: "x" }), text("done")], {
      id: "parent",
      tools: [asTool(child)],
    });
    const { turnId } = await createKeel({ ledger }).run(parent, "go");
    assert.deepEqual(
      ledger.rows().map((row) => [row.turnId, row.callId, row.status]),
      [[`${turnId}.1`, "p1", "completed"]],
    );
  });

  test("a row that cannot be settled stays started, and its call is none the worse", async () => {
    const ledger = ledgerOf({ settled: broken });
    const { returned, result } = await calling(({ callTool }) => callTool("leaf"), [leafOf().tool], {
      keel: { ledger },
    });
    assert.deepEqual([returned.text, result.outcome.status], ["leaf-out", "completed"]);
    assert.deepEqual(statuses(ledger), { p1: "started", "p1/1": "started" });
  });

  test("the row is written before the body runs and settled before its caller goes on", async () => {
    const ledger = memoryLedger();
    const seen = [];
    const leaf = leafOf("leaf", () => seen.push(statuses(ledger)["p1/1"]));
    await calling(({ callTool }) => callTool("leaf").then(() => seen.push(statuses(ledger)["p1/1"])), [leaf.tool], {
      keel: { ledger },
    });
    assert.deepEqual(seen, ["started", "completed"]);
  });
});

describe("a row that cannot be written", () => {
  const startFails = (rest) => ledgerOf({ started: ({ callId }) => callId !== "p1" && broken(), ...rest });
  const ten = async ({ callTool }) => {
    const answers = [];
    for (let n = 0; n < 10; n += 1)
      answers.push(
        await callTool("leaf").then(
          (result) => result.text,
          ({ code }) => code,
        ),
      );
    return answers;
  };

  test("NC-60 refuses the call: it gives its slot back, and is no refusal to count", async () => {
    const leaf = leafOf();
    for (const onStartFailure of [undefined, "abort"]) {
      const ledger = startFails({ onStartFailure });
      const { returned, events, result } = await calling(ten, [leaf.tool], {
        keel: { ledger },
        agent: { budget: { toolCalls: 2 } },
      });
      assert.deepEqual(returned, Array(10).fill("LEDGER"));
      const ends = ofType(events, "tool.failed");
      assert.deepEqual(
        ends.map(({ callId }) => callId),
        Array.from({ length: 10 }, (_, n) => `p1/${n + 1}`),
      );
      assert.deepEqual(
        [leaf.runs.length, result.outcome.status, result.record.budget.used.nestedCalls],
        [0, "completed", 0],
      );
    }
  });

  test("NC-60 tells what was wrong", async () => {
    const { returned } = await calling(({ callTool }) => refusal(callTool("leaf")), [leafOf().tool], {
      keel: { ledger: startFails() },
    });
    assert.equal(returned[0], "LEDGER");
    assert.match(returned[1], /disk full/);
  });

  test('NC-60 with onStartFailure "continue" the call runs all the same', async () => {
    const leaf = leafOf();
    const { returned } = await calling(ten, [leaf.tool], {
      keel: { ledger: startFails({ onStartFailure: "continue" }) },
    });
    assert.deepEqual([returned, leaf.runs.length], [Array(10).fill("leaf-out"), 10]);
  });

  test("NC-60 refuses a call of the model likewise", async () => {
    const leaf = leafOf();
    const script = [issue("leaf"), text("done")];
    const { outputs, events, result } = await calling(() => {}, [leaf.tool], {
      script,
      keel: { ledger: ledgerOf({ started: broken }) },
    });
    assert.deepEqual([outputs[0].type, leaf.runs.length, result.outcome.status], ["error-text", 0, "completed"]);
    assert.match(outputs[0].value, /disk full/);
    assert.deepEqual(callLines(events), ["started p1", "failed p1"]);
  });
});

describe("a row that never settled", () => {
  const unresolved = (...ids) => ledgerOf({ unresolved: () => ids });

  test("NC-61 refuses a nested call of the same id to a tool that is not replay-safe, uncounted", async () => {
    const leaf = leafOf();
    const ids = Array.from({ length: 9 }, (_, n) => `p1/${n + 1}`);
    const body = async ({ callTool }) => {
      const answers = [];
      for (let n = 0; n < 9; n += 1) answers.push(await refusal(callTool("leaf")));
      return [answers, (await callTool("leaf")).text];
    };
    const { returned, events } = await calling(body, [leaf.tool], { keel: { ledger: unresolved(...ids) } });
    for (const [code, message] of returned[0]) {
      assert.equal(code, "TOOL_FAILED");
      assert.match(message, /never settled.*not replay-safe/);
    }
    assert.deepEqual([returned[1], leaf.runs.length], ["leaf-out", 1]);
    assert.equal(ofType(events, "tool.refused").length, 9);
  });

  test("NC-61 matters to no other id and to no tool that is replay-safe, which does not even ask", async () => {
    const leaf = leafOf();
    assert.equal(
      (
        await calling(({ callTool }) => callTool("leaf"), [leaf.tool], {
          keel: { ledger: unresolved("p1/2", "p2/1", "p1") },
        })
      ).returned.text,
      "leaf-out",
    );
    const safe = leafOf("leaf", undefined, { replay: "safe" });
    const ledger = ledgerOf({ unresolved: broken });
    assert.equal(
      (await calling(({ callTool }) => callTool("leaf"), [safe.tool], { keel: { ledger } })).returned.text,
      "leaf-out",
    );
  });

  test("NC-61 a ledger that cannot tell refuses", async () => {
    const leaf = leafOf();
    const { returned } = await calling(({ callTool }) => refusal(callTool("leaf")), [leaf.tool], {
      keel: { ledger: ledgerOf({ unresolved: broken }) },
    });
    assert.deepEqual([returned[0], leaf.runs.length], ["LEDGER", 0]);
    assert.match(returned[1], /disk full/);
  });

  test("NC-61 rows may be given whole", async () => {
    const ledger = ledgerOf({ unresolved: () => [{ callId: "p1/1" }] });
    const { returned } = await calling(({ callTool }) => refusal(callTool("leaf")), [leafOf().tool], {
      keel: { ledger },
    });
    assert.match(returned[1], /never settled/);
  });
});

describe("a ledger with parts missing", () => {
  test("D-39 every method may be left out, and may answer later", async () => {
    const ledger = memoryLedger();
    const later = Object.fromEntries(
      ["started", "settled", "unresolved"].map((name) => [name, async (entry) => ledger[name](entry)]),
    );
    for (const given of [{}, { started: ledger.started }, { settled: ledger.settled }, later]) {
      const { returned, agent } = await calling(({ callTool }) => callTool("leaf"), [leafOf().tool, toolOf("unused")], {
        keel: { ledger: given },
      });
      assert.deepEqual([returned.text, lastOutputs(agent)[0].value], ["leaf-out", "called"]);
    }
  });

  test("a ledger may be an object with methods of its own", async () => {
    class Rows {
      calls = [];
      started({ callId }) {
        this.calls.push(callId);
      }
    }
    const ledger = new Rows();
    await calling(({ callTool }) => callTool("leaf"), [leafOf().tool], { keel: { ledger } });
    assert.deepEqual(ledger.calls, ["p1", "p1/1"]);
  });
});
