import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, defineMiddleware, defineTool, humanApproval } from "../../js/index.js";
import { text } from "../../js/testing/index.js";
import { callLines, calling, issue, leafOf, refusal } from "../scenes/calling.js";
import { agentOf, anything, lastOutputs, ofType, toolOf } from "../scenes/small-agents.js";

const payOf = (rest) => leafOf("pay", ({ amount }) => `paid ${amount}`, { approval: "required", ...rest });
const externalOf = () => defineTool({ id: "ext", access: "public", external: true, input: anything });

/** One call of the model to `pay`, with this `approve`. */
async function asked(approve, rest = {}) {
  const pay = payOf();
  const script = [issue("pay", { amount: 3 }), text("done")];
  const { result, events, outputs, keel, agent } = await calling(() => {}, [pay.tool], {
    script,
    keel: { approve, ...rest.keel },
  });
  return { pay, result, events, outputs, keel, agent };
}

describe("approve()", () => {
  test('D-31 "allow" runs the call at once, in the same run', async () => {
    for (const approve of [() => "allow", async () => "allow"]) {
      const { pay, result, events, outputs } = await asked(approve);
      assert.deepEqual([pay.runs, result.outcome.status, outputs[0].value], [[{ amount: 3 }], "completed", "paid 3"]);
      assert.deepEqual(
        ofType(events, "approval.requested", "turn.suspended").map(({ type }) => type),
        ["approval.requested"],
      );
      assert.deepEqual(callLines(events), ["started p1", "completed p1"]);
    }
  });

  test("D-31 is shown the call: who, which tool, with what, and the hash of both", async () => {
    let shown;
    await asked((pending) => ((shown = pending), "allow"));
    const { id, kind, path, turnId, callId, toolId, args, argsHash } = shown;
    assert.deepEqual(
      [id, kind, path, callId, toolId, args],
      [`${turnId}:p1`, "approval", [turnId], "p1", "pay", { amount: 3 }],
    );
    assert.match(argsHash, /^[0-9a-f]{64}$/);
  });

  test("D-31 { deny } answers the call with the reason; the body is not entered and its place is free again", async () => {
    const { pay, result, events, outputs } = await asked(() => ({ deny: "too much" }));
    assert.deepEqual(
      [pay.runs.length, result.outcome.status, outputs],
      [0, "completed", [{ type: "error-text", value: "call 'pay' denied: too much" }]],
    );
    assert.deepEqual([callLines(events), result.record.budget.used.toolCalls], [["refused p1"], 0]);
  });

  test("D-31 D-16 BL-076 anything else denies, and so do a throw and a rejection", async () => {
    const odd = [undefined, null, true, "yes", "Allow", {}, { allow: true }, { deny: 5 }, []].map(
      (verdict) => () => verdict,
    );
    const failing = [
      () => {
        throw new Error("no human");
      },
      () => Promise.reject(new Error("no human")),
    ];
    for (const approve of [...odd, ...failing]) {
      const { pay, result, outputs } = await asked(approve);
      assert.deepEqual([pay.runs.length, result.outcome.status, outputs[0].type], [0, "completed", "error-text"]);
      assert.match(
        outputs[0].value,
        failing.includes(approve) ? /denied: approve\(\) failed: no human/ : /denied: expected approve\(\) to answer/,
      );
    }
  });

  test('D-31 "defer", or no approve() at all, suspends', async () => {
    for (const approve of [() => "defer", async () => "defer", undefined]) {
      const { pay, result, events } = await asked(approve);
      assert.deepEqual([result.outcome.status, result.outcome.pending.length, pay.runs.length], ["suspended", 1, 0]);
      assert.deepEqual(
        events.slice(-2).map(({ type }) => type),
        ["approval.requested", "turn.suspended"],
      );
    }
  });

  test("D-31 is not asked about external tools, nor about calls that need no human", async () => {
    const approvals = [];
    const approve = (pending) => (approvals.push(pending.toolId), "allow");
    const script = [[issue("ext", {}, "e"), issue("leaf", {}, "l")], text("done")];
    const { result } = await calling(() => {}, [externalOf(), leafOf().tool], { script, keel: { approve } });
    assert.deepEqual(
      [approvals, result.outcome.status, result.outcome.pending.map(({ kind }) => kind)],
      [[], "suspended", ["external"]],
    );
  });

  test("BL-076 D-16 a call that its gates refuse is never asked about", async () => {
    const approvals = [];
    const deny = defineMiddleware({ name: "deny", nested: "exempt", beforeTool: () => ({ deny: "no" }) });
    const { pay, outputs } = await asked((pending) => (approvals.push(pending), "allow"), {
      keel: { middleware: [deny] },
    });
    assert.deepEqual([approvals, pay.runs.length, outputs[0].value], [[], 0, "no"]);
  });

  test('humanApproval\'s "defer" goes to approve() as well', async () => {
    const leaf = leafOf();
    const seen = [];
    const script = [issue("leaf"), text("done")];
    const keel = {
      middleware: [humanApproval({ tools: ["leaf"] })],
      approve: ({ toolId }) => (seen.push(toolId), "allow"),
    };
    const { result } = await calling(() => {}, [leaf.tool], { script, keel });
    assert.deepEqual([seen, leaf.runs.length, result.outcome.status], [["leaf"], 1, "completed"]);
  });
});

describe("below a nested call", () => {
  const needsApproval = (id) => [
    "TOOL_FAILED",
    `nested call '${id}' requires approval; nested calls cannot be deferred`,
  ];
  const outer = { keel: { approve: () => "allow" } };

  test("D-22 BL-074 nobody is asked: refused, the body not entered, the turn not suspended", async () => {
    const pay = payOf();
    for (const [id, tool] of [
      ["pay", pay.tool],
      ["ext", externalOf()],
    ]) {
      const { returned, result, events } = await calling(
        ({ callTool }) => refusal(callTool(id, { amount: 1 })),
        [tool],
        outer,
      );
      assert.deepEqual([returned, result.outcome.status], [needsApproval(id), "completed"]);
      assert.equal(ofType(events, "approval.requested").length, 0);
    }
    assert.equal(pay.runs.length, 0);
  });

  test("D-22 in child turns too: their calls of the model are refused there", async () => {
    const pay = payOf();
    const child = agentOf([[issue("pay", { amount: 1 }, "p"), issue("ext", {}, "e")], text("child done")], {
      id: "child",
      tools: [pay.tool, externalOf()],
    });
    const { returned, result, events } = await calling(
      ({ callTool }) => callTool("run-child", { brief: "x" }),
      [asTool(child)],
      outer,
    );
    assert.equal(returned.isError, false);
    assert.deepEqual(
      lastOutputs(child).map(({ value }) => value),
      ["call 'pay' requires approval", "call 'ext' requires approval"],
    );
    assert.deepEqual(
      [pay.runs.length, result.outcome.status, ofType(events, "approval.requested").length],
      [0, "completed", 0],
    );
  });

  test("D-22 and in grandchildren, through a connection of the child", async () => {
    const pay = payOf();
    const grandchild = agentOf([issue("pay", { amount: 1 }), text("ok")], { id: "grandchild", tools: [pay.tool] });
    const child = agentOf([issue("run-grandchild", { brief: "x" }), text("ok")], {
      id: "child",
      tools: [asTool(grandchild)],
    });
    const { result } = await calling(({ callTool }) => callTool("run-child", { brief: "x" }), [asTool(child)]);
    assert.deepEqual(
      [result.outcome.status, pay.runs.length, lastOutputs(grandchild)[0].value],
      ["completed", 0, "call 'pay' requires approval"],
    );
  });

  test("BL-078 the refusal of the innermost call goes to its own caller; those above see that caller's answer", async () => {
    const pay = payOf();
    const answers = {};
    const say = (id, next) =>
      toolOf(id, async (_input, { callTool }) => {
        answers[id] = await callTool(next, { amount: 1 }).then(
          (result) => result.text,
          ({ message }) => `refused: ${message}`,
        );
        return `${id} says ${answers[id]}`;
      });
    await calling(
      async ({ callTool }) => void (answers.caller = (await callTool("outer")).text),
      [say("outer", "inner"), say("inner", "pay"), pay.tool],
    );
    const inner = "refused: nested call 'pay' requires approval; nested calls cannot be deferred";
    assert.deepEqual(answers, { inner, outer: `inner says ${inner}`, caller: `outer says inner says ${inner}` });
  });

  test("BL-078 three agents deep: only the innermost model reads of the denial", async () => {
    const pay = payOf();
    const third = agentOf([issue("pay", { amount: 1 }), text("third gave up")], { id: "third", tools: [pay.tool] });
    const second = agentOf([issue("run-third", { brief: "x" }), text("second done")], {
      id: "second",
      tools: [asTool(third)],
    });
    const first = agentOf([issue("run-second", { brief: "x" }), text("first done")], {
      id: "first",
      tools: [asTool(second)],
    });
    const result = await createKeel({ approve: () => ({ deny: "no" }) }).run(first, "go");
    assert.deepEqual(
      [lastOutputs(third)[0].value, result.text, pay.runs.length],
      ["call 'pay' denied: no", "first done", 0],
    );
    assert.match(JSON.stringify(lastOutputs(second)[0].value), /third gave up/);
    assert.doesNotMatch(JSON.stringify([lastOutputs(second), lastOutputs(first)]), /denied/);
  });
});
