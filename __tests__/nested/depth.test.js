import assert from "node:assert/strict";
import { test } from "node:test";

import { asTool, createKeel } from "../../js/index.js";
import { scriptedModel, text, toolCall, toolContext } from "../../js/testing/index.js";
import { callerOf, callsIn, leafOf, nestedRun, rejection } from "../scenes/nested-runs.js";
import { agentOf, ofType, toolOf, unpaired } from "../scenes/small-agents.js";

const DISABLED = "nested tool calls are disabled (max_nested_depth = 0)";

/** A tool that calls itself until it is refused; it notes each of its calls. */
function selfCaller(reached, refused) {
  return toolOf("caller", async (_input, context) => {
    reached.push(context.callId);
    try {
      await context.callTool("caller", {});
    } catch (error) {
      refused.push([context.callId, error.code, error.message]);
    }
    return "ok";
  });
}

test("NC-01 nested calls are off by default: the call is refused, with the way to turn them on in the text", async () => {
  const { leaf, seen } = leafOf();
  let refused;
  const caller = callerOf(async ({ callTool }) => {
    refused = await rejection(callTool("leaf", {}));
    return "went on";
  });
  const agent = agentOf([toolCall("caller", {}, { id: "p1" }), text("done")], { tools: [caller, leaf] });
  const keel = createKeel();
  const result = await keel.run(agent, "go");
  const events = await keel.records.events(result.turnId);
  assert.deepEqual(refused, { code: "TOOL_FAILED", message: DISABLED });
  assert.deepEqual(seen, []);
  assert.deepEqual(callsIn(events, "tool.started"), ["p1"]);
  assert.deepEqual(callsIn(events, "tool.refused"), ["p1/1"]);
  assert.equal(result.outcome.status, "completed");
});

test("NC-02 a context made outside any turn names the tool and the call that cannot call it", async () => {
  const context = toolContext({ callId: "alone" });
  assert.deepEqual(await rejection(context.callTool("leaf", {})), {
    code: "TOOL_FAILED",
    message:
      "cannot call tool 'leaf' from tool call 'alone': nested tool calls are only available while the agent loop executes the calling tool",
  });
});

test("NC-03 a nested call gets its arguments and answers with a ToolResult", async () => {
  const { leaf, seen } = leafOf();
  let result;
  const caller = callerOf(async ({ callTool }) => {
    result = await callTool("leaf", { n: 1 });
  });
  await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual({ ...result }, { isError: false, text: "leaf-out", value: "leaf-out" });
  assert.deepEqual(seen, [{ n: 1 }]);
});

for (const [depth, ids] of [
  [1, ["p1", "p1/1"]],
  [2, ["p1", "p1/1", "p1/1/1"]],
]) {
  test(`NC-11 a tool that calls itself at depth ${depth} reaches ${ids.at(-1)}, and its next call is refused`, async () => {
    const reached = [];
    const refused = [];
    const { events, result } = await nestedRun({
      tools: [selfCaller(reached, refused)],
      limits: { maxNestedDepth: depth },
    });
    assert.deepEqual(reached, ids);
    assert.deepEqual(refused, [
      [ids.at(-1), "TOOL_FAILED", `nested call 'caller' exceeds max_nested_depth (${depth})`],
    ]);
    assert.deepEqual(callsIn(events, "tool.refused"), [`${ids.at(-1)}/1`]);
    assert.equal(result.outcome.status, "completed");
  });
}

test("NC-12 depth 3 reaches four levels, each with the level in its context", async () => {
  const levels = [];
  const tool = toolOf("caller", async (_input, { level, callTool }) => {
    levels.push(level);
    await callTool("caller", {}).catch(() => {});
  });
  const { events } = await nestedRun({ tools: [tool] });
  assert.deepEqual(levels, [0, 1, 2, 3]);
  assert.deepEqual(callsIn(events, "tool.started"), ["p1", "p1/1", "p1/1/1", "p1/1/1/1"]);
  assert.deepEqual(unpaired(events), []);
});

test("NC-11 D-18 run options win over the keel's depth; an agent may only lower it", async () => {
  const depthOf = async (given) => {
    const reached = [];
    await nestedRun({ tools: [selfCaller(reached, [])], ...given });
    return reached.length - 1;
  };
  assert.equal(await depthOf({ limits: { maxNestedDepth: 1 }, run: { limits: { maxNestedDepth: 4 } } }), 4);
  assert.equal(await depthOf({ limits: { maxNestedDepth: 3 }, agent: { limits: { maxNestedDepth: 1 } } }), 1);
  assert.equal(await depthOf({ limits: { maxNestedDepth: 2 }, agent: { limits: { maxNestedDepth: 9 } } }), 2);
  assert.equal(await depthOf({ limits: { maxNestedDepth: 3 }, run: { limits: { maxNestedDepth: 0 } } }), 0);
});

test("BL-013 maxNestedDepth and maxDepth are counted apart: a child turn starts its own levels, and both caps hold", async () => {
  const levels = [];
  const down = async (_input, { level, turnId, callTool }) => {
    levels.push([turnId.split(".").length - 1, level]);
    await callTool("caller", {}).catch(() => {});
    return "ok";
  };
  const caller = toolOf("caller", down);
  const agents = [];
  const agent = agentOf(
    scriptedModel([toolCall("caller"), toolCall("run-agent", { brief: "again" }), text("done")], { perTurn: true }),
    { tools: () => [caller, ...agents.map((one) => asTool(one))] },
  );
  agents.push(agent);
  const keel = createKeel({ limits: { maxNestedDepth: 1, maxDepth: 2 } });
  const result = await keel.run(agent, "go");
  const events = await keel.records.events(result.turnId, { tree: true });
  assert.equal(ofType(events, "turn.started").length, 3);
  assert.deepEqual(
    levels,
    [0, 1, 2].flatMap((depth) => [
      [depth, 0],
      [depth, 1],
    ]),
  );
  const refused = ofType(events, "tool.refused").map(({ error }) => error.code);
  assert.deepEqual(refused.toSorted(), ["DEPTH", "TOOL_FAILED", "TOOL_FAILED", "TOOL_FAILED"]);
});

test("BL-013 a nested delegation at maxDepth is refused to the tool that called it, also with nested depth to spare", async () => {
  const child = agentOf([text("never")], { id: "child" });
  let refused;
  const caller = callerOf(async ({ callTool }) => {
    refused = await rejection(callTool("run-child", { brief: "x" }));
  });
  const { events } = await nestedRun({ tools: [caller, asTool(child)], limits: { maxNestedDepth: 5, maxDepth: 0 } });
  assert.equal(refused.code, "DEPTH");
  assert.equal(child.model.requests.length, 0);
  assert.equal(ofType(events, "turn.started").length, 1);
});
