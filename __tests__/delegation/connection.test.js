import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { z } from "zod";

import { asTool, createKeel, defineAgent, run } from "../../js/index.js";
import { scriptedModel, text, toolCall } from "../../js/testing/index.js";
import {
  agentOf,
  anything,
  lastOutputs,
  ofType,
  outputsIn,
  parentOf,
  toolOf,
  unpaired,
} from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

describe("a connection", () => {
  test("NT-11 hands on the input's brief by default, or what brief() makes of the parsed input", async () => {
    const child = agentOf(() => text("fine"), { id: "child" });
    const input = z.object({ topic: z.string(), depth: z.number().default(2) });
    const parent = agentOf(
      [[call, toolCall("ask", { topic: "rust" }), toolCall("show", { topic: "rust" })], text("done")],
      {
        id: "parent",
        tools: [
          asTool(child),
          asTool(child, { id: "ask", input, brief: ({ topic, depth }) => `${topic}, ${depth} deep` }),
          asTool(child, { id: "show", input, brief: ({ topic }) => [{ type: "text", text: topic }] }),
        ],
      },
    );
    await run(parent, "go");
    assert.deepEqual(
      child.model.requests.map(({ messages }) => messages[0].content).toSorted(),
      ["rust, 2 deep", "x", [{ type: "text", text: "rust" }]].toSorted(),
    );
  });

  test("D-11 a brief() that throws or returns no text opens no child, and answers the call", async () => {
    for (const brief of [
      () => {
        throw new Error("no brief today");
      },
      () => 5,
    ]) {
      const child = agentOf([text("never")], { id: "child" });
      const keel = createKeel();
      const parent = parentOf(child, [call, text("went on")], { brief });
      const result = await keel.run(parent, "go");
      assert.equal(child.model.requests.length, 0);
      assert.equal(unpaired(await keel.records.events(result.turnId, { tree: true })).length, 0);
      assert.deepEqual([result.outcome.status, lastOutputs(parent)[0].type.startsWith("error-")], ["completed", true]);
    }
  });

  test('NT-28 under onError "fail" a brief() that throws fails the caller', async () => {
    const child = agentOf([text("never")], { id: "child" });
    const brief = () => {
      throw new Error("no brief today");
    };
    const { outcome } = await run(parentOf(child, [call, text("never")], { brief, onError: "fail" }), "go");
    assert.deepEqual([outcome.cause.code, outcome.cause.cause.code], ["CHILD_FAILED", "INSTRUCTIONS_FAILED"]);
    assert.match(outcome.cause.message, /no brief today/);
  });

  test("input without a brief is handed on whole, as JSON", async () => {
    const child = agentOf([text("fine")], { id: "child" });
    const parent = parentOf(child, [toolCall("run-child", '{"b": 1, "a": [2]}'), text("done")], { input: anything });
    await run(parent, "go");
    assert.equal(child.model.requests[0].messages[0].content, '{"b": 1, "a": [2]}');
  });

  test("D-29 agents that know each other through functions delegate in a cycle", async () => {
    const ping = defineAgent({
      id: "ping",
      model: scriptedModel([toolCall("run-pong", { brief: "1" }), text("ping done"), text("inner ping")]),
      tools: () => [asTool(pong)],
    });
    const pong = defineAgent({
      id: "pong",
      model: scriptedModel([toolCall("run-ping", { brief: "2" }), text("pong done")]),
      tools: () => [asTool(ping)],
    });
    // The script of `ping` is consumed in call order: outer call, inner answer, outer answer.
    const result = await run(ping, "go");
    assert.equal(result.text, "inner ping");
    assert.deepEqual(lastOutputs(pong)[0].value, { ok: true, text: "ping done", parts: [] });
  });

  test("BL-072 a child is offered its own tools only, and its caller's are unknown to it", async () => {
    const child = agentOf(
      [[toolCall("mine"), toolCall("yours"), toolCall("run-child", { brief: "me" })], text("done")],
      { id: "child", tools: [toolOf("mine")] },
    );
    const parent = agentOf([call, text("done")], { id: "parent", tools: [asTool(child), toolOf("yours")] });
    await run(parent, "go");
    assert.deepEqual(
      child.model.requests[0].tools.map(({ name }) => name),
      ["mine"],
    );
    assert.deepEqual(
      lastOutputs(child).map(({ value }) => value.split("\n")[0]),
      ["ok", "tool not found: yours", "tool not found: run-child"],
    );
  });

  test("BL-079 two children of one name cannot both be connected under it", () => {
    const first = agentOf([], { id: "child", grants: ["a"] });
    const second = agentOf([], { id: "child", grants: ["b"] });
    assert.throws(() => agentOf([], { id: "parent", tools: [asTool(first), asTool(second)] }), {
      code: "TOOL_ID_TAKEN",
    });
    assert.throws(() => agentOf([], { id: "" }), { code: "ID_INVALID" });
  });
});

describe("depth", () => {
  const selfish = (models, rest = {}) => {
    const agent = defineAgent({
      id: "self",
      model: scriptedModel(
        ({ messages }) => (
          (models.calls += 1),
          outputsIn(messages).length === 0 ? toolCall("run-self", { brief: "deeper" }) : text("back")
        ),
      ),
      tools: () => [asTool(agent)],
      ...rest,
    });
    return agent;
  };

  test("BL-012 an agent without connections is offered none, and a forged delegation is unknown", async () => {
    const agent = agentOf([call, text("alone")], { id: "child" });
    const result = await run(agent, "go");
    assert.equal(result.text, "alone");
    assert.deepEqual(agent.model.requests[0].tools, []);
    assert.match(lastOutputs(agent)[0].value, /^tool not found: run-child/);
  });

  for (const [maxDepth, turns] of [
    [0, 1],
    [1, 2],
    [3, 4],
  ]) {
    test(`BL-012 BL-013 BL-018 an agent that contains itself opens ${turns} turns under maxDepth ${maxDepth}`, async () => {
      const models = { calls: 0 };
      const keel = createKeel();
      const agent = selfish(models);
      const result = await keel.run(agent, "go", { limits: { maxDepth } });
      assert.deepEqual([result.outcome.status, models.calls], ["completed", turns * 2]);
      const records = (await keel.records.list({ rootTurnId: result.turnId })).items;
      assert.equal(records.length, turns);
      const deepest = records.find(({ turnId }) => turnId === result.turnId + ".1".repeat(maxDepth));
      const [{ type, value }] = outputsIn(deepest.transcript);
      assert.deepEqual([type, /maxDepth/.test(value), deepest.budget.used.toolCalls], ["error-text", true, 0]);
      const refused = ofType(await keel.records.events(deepest.turnId), "tool.refused");
      assert.deepEqual(
        refused.map(({ error }) => error.code),
        ["DEPTH"],
      );
    });
  }

  test("BL-018 at the cap the connection is not offered", async () => {
    const offered = [];
    const model = scriptedModel(
      ({ messages, tools }) => (
        offered.push(tools.length),
        outputsIn(messages).length === 0 ? toolCall("run-self", { brief: "x" }) : text("back")
      ),
    );
    const agent = defineAgent({ id: "self", model, tools: () => [asTool(agent)] });
    await run(agent, "go", { limits: { maxDepth: 1 } });
    assert.deepEqual(offered, [1, 0, 0, 1]);
  });

  test("BL-013 D-18 the default is 8, an agent may lower it for what is below and never raise it", async () => {
    const turnsOf = async (rest, limits, keelLimits) => {
      const models = { calls: 0 };
      await createKeel({ ...(keelLimits && { limits: keelLimits }) }).run(
        selfish(models, rest),
        "go",
        limits ? { limits } : {},
      );
      return models.calls / 2;
    };
    assert.equal(await turnsOf({}), 9);
    assert.equal(await turnsOf({ limits: { maxDepth: 2 } }), 3);
    assert.equal(await turnsOf({ limits: { maxDepth: 100 } }, { maxDepth: 2 }), 3);
    assert.equal(await turnsOf({}, undefined, { maxDepth: 1 }), 2);
  });
});
