import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { defineMiddleware, KeelError, toolError } from "../../js/index.js";
import { calling, leafOf, refusal } from "../scenes/calling.js";
import { ofType } from "../scenes/small-agents.js";

const thrower = (error) => () => {
  throw error;
};

describe("hooks about results", () => {
  test("NC-57 BL-069 an observer sees every nested call that has a result, and nothing of one that was refused or raised", async () => {
    const observed = [];
    const observe = defineMiddleware({
      name: "observe",
      observeNestedResult: (_context, { callId }, result) => (
        observed.push([callId, result.text, result.isError]),
        { text: "changed" }
      ),
    });
    const failing = leafOf("failing", thrower(toolError("no luck")));
    const raising = leafOf("raising", thrower(new Error("secret")));
    const body = async ({ callTool }) => {
      const results = [await callTool("leaf"), await callTool("failing")];
      await refusal(callTool("ghost"));
      await refusal(callTool("raising"));
      return results.map(({ text: out }) => out);
    };
    const { returned } = await calling(body, [leafOf().tool, failing.tool, raising.tool], {
      keel: { middleware: [observe] },
    });
    assert.deepEqual(observed, [
      ["p1/1", "leaf-out", false],
      ["p1/2", "no luck", true],
    ]);
    assert.deepEqual(returned, ["leaf-out", "no luck"], "an observer rewrites nothing");
  });

  test("NC-57 an observer that throws or refuses changes nothing; the others still see the result", async () => {
    let seen = 0;
    const bad = defineMiddleware({ name: "bad", observeNestedResult: thrower(new KeelError("TOOL_FAILED", "no")) });
    const good = defineMiddleware({ name: "good", observeNestedResult: () => (seen += 1) });
    const { returned } = await calling(({ callTool }) => callTool("leaf"), [leafOf().tool], {
      keel: { middleware: [bad, good] },
    });
    assert.deepEqual([returned.text, seen], ["leaf-out", 1]);
  });

  test("NC-57 all observers see a result in the order in which they are given, before the call is over", async () => {
    const order = [];
    const layer = (name) => defineMiddleware({ name, observeNestedResult: async () => void order.push(name) });
    const { events } = await calling(
      ({ callTool }) => callTool("leaf").then(() => order.push("caller")),
      [leafOf().tool],
      {
        keel: { middleware: [layer("k")] },
        run: { middleware: [layer("r")] },
        agent: { middleware: [layer("a")] },
      },
    );
    assert.deepEqual(order, ["k", "r", "a", "caller"]);
    assert.equal(ofType(events, "tool.completed").length, 2);
  });

  test("NC-58 beforeTool and afterTool run for the model's calls alone", async () => {
    const told = [];
    const count = defineMiddleware({
      name: "count",
      nested: "exempt",
      beforeTool: (_context, { callId }) => void told.push(`before ${callId}`),
      afterTool: (_context, { callId }) => void told.push(`after ${callId}`),
    });
    await calling(({ callTool }) => callTool("leaf"), [leafOf().tool], { keel: { middleware: [count] } });
    assert.deepEqual(told, ["before p1", "after p1"]);
  });
});
