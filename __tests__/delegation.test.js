import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { z } from "zod";

import { asTool, createKeel, defineAgent, definePart, KeelError, run } from "../js/index.js";
import { fail, hang, reply, scriptedModel, text, toolCall, virtualClock } from "../js/testing/index.js";
import {
  agentOf,
  anything,
  deferred,
  lastOutputs,
  ofType,
  outputsIn,
  parentOf,
  toolOf,
  unpaired,
} from "./small-agents.js";

const call = toolCall("run-child", { brief: "x" });
const failing = (message = "no model today") => fail(new Error(message));

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

describe("many children", () => {
  test("BL-058 five by five by five children all finish", async () => {
    const leaf = agentOf(() => text("leaf"), { id: "leaf" });
    const five = (id, tool, below) =>
      agentOf(
        ({ messages }) =>
          outputsIn(messages).length === 0 ? Array.from({ length: 5 }, () => toolCall(tool, { brief: "x" })) : text(id),
        { id, tools: [asTool(below)] },
      );
    const keel = createKeel();
    const root = five("root", "run-middle", five("middle", "run-low", five("low", "run-leaf", leaf)));
    const result = await keel.run(root, "go");
    const records = (await keel.records.list({ rootTurnId: result.turnId, limit: 1_000 })).items;
    assert.equal(records.filter(({ agentId }) => agentId === "leaf").length, 125);
    assert.ok(records.every(({ status }) => status === "completed"));
    assert.equal(result.record.treeUsage.totalTokens, 15 * (2 * (1 + 5 + 25) + 125));
  });

  test("BL-109 eight children with five calls each: as many events in parallel as one after the other", async () => {
    const kinds = {};
    for (const toolExecution of ["parallel", "sequential"]) {
      const child = agentOf(
        ({ messages }) =>
          outputsIn(messages).length === 0 ? Array.from({ length: 5 }, () => toolCall("note")) : text("done"),
        { id: "child", tools: [toolOf("note", () => Promise.resolve(1))] },
      );
      const keel = createKeel();
      const result = await keel.run(parentOf(child, [Array.from({ length: 8 }, () => call), text("done")]), "go", {
        limits: { toolExecution },
      });
      const events = await keel.records.events(result.turnId, { tree: true });
      assert.deepEqual(unpaired(events), []);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map(({ seq }) => seq).toSorted((a, b) => a - b),
      );
      assert.equal(new Set(events.map(({ seq }) => seq)).size, events.length);
      const notes = ofType(events, "tool.started", "tool.completed").filter(({ toolId }) => toolId === "note");
      assert.equal(notes.length, 80);
      kinds[toolExecution] = events.map(({ type, agentId }) => `${agentId} ${type}`).toSorted();
    }
    assert.deepEqual(kinds.parallel, kinds.sequential);
  });

  test("BL-111 a child's parent is known after refused calls, failed and stopped children too", async () => {
    const keel = createKeel();
    const child = agentOf(
      [
        text("1"),
        failing(),
        ({ messages: _ }, { turnId }) => (void keel.stop(turnId, { scope: "subtree" }), hang()),
        text("4"),
      ],
      { id: "child" },
    );
    const parent = parentOf(child, [
      call,
      toolCall("nobody"),
      call,
      call,
      toolCall("run-child", {}),
      call,
      text("done"),
    ]);
    const result = await keel.run(parent, "go");
    assert.equal(result.text, "done");
    const children = (await keel.records.tree(result.turnId)).children.map(({ record }) => record);
    assert.deepEqual(
      children.map(({ status }) => status),
      ["completed", "failed", "stopped", "completed"],
    );
    assert.deepEqual(
      children.map(({ turnId }) => turnId),
      [1, 2, 3, 4].map((n) => `${result.turnId}.${n}`),
    );
    assert.ok(
      children.every(({ parentTurnId, rootTurnId }) => parentTurnId === result.turnId && rootTurnId === result.turnId),
    );
  });

  test("BL-041 a tool that fails inside a child and a child that answers all the same are two facts", async () => {
    const child = agentOf([toolCall("broken"), text("worked around it")], {
      id: "child",
      tools: [
        toolOf("broken", () => {
          throw new Error("inner");
        }),
      ],
    });
    const keel = createKeel();
    const parent = parentOf(child, [call, text("done")]);
    const { turnId } = await keel.run(parent, "go");
    assert.deepEqual(lastOutputs(parent)[0].value, { ok: true, text: "worked around it", parts: [] });
    const events = await keel.records.events(`${turnId}.1`);
    assert.deepEqual(
      ofType(events, "tool.failed").map(({ toolId, error }) => [toolId, error.code]),
      [["broken", "TOOL_ERROR"]],
    );
  });

  test("BL-087 a child fails of its model while a sibling's tool runs: the tool's late end reaches nobody", async () => {
    const late = deferred();
    const slow = toolOf("slow", () => late.promise);
    const child = agentOf([({ messages: _ }) => failing("mid-air")], { id: "child" });
    const parent = agentOf([[toolCall("slow"), call]], {
      id: "parent",
      tools: [slow, asTool(child, { onError: "fail" })],
    });
    const keel = createKeel();
    const result = await keel.run(parent, "go");
    const before = JSON.stringify(await keel.records.events(result.turnId, { tree: true }));
    late.reject(new Error("after the end"));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(result.outcome.cause.code, "CHILD_FAILED");
    assert.equal(JSON.stringify(await keel.records.events(result.turnId, { tree: true })), before);
  });

  test("BL-114 NT-36 usage is per record, and the tree's is the sum, with failed attempts counted once", async () => {
    const spend = (n) => reply({ content: `${n}`, usage: { inputTokens: n, outputTokens: 0 } });
    const deep = agentOf([spend(40)], { id: "deep" });
    const middle = agentOf(
      [
        toolCall("run-deep", { brief: "x" }, { usage: { inputTokens: 20, outputTokens: 0 } }),
        reply({ content: "m", usage: { inputTokens: 0, outputTokens: 0 } }),
      ],
      { id: "middle", tools: [asTool(deep)] },
    );
    const root = agentOf(
      [
        toolCall("run-middle", { brief: "x" }, { usage: { inputTokens: 10, outputTokens: 0 } }),
        reply({ content: "r", usage: { inputTokens: 0, outputTokens: 0 } }),
      ],
      { id: "root", tools: [asTool(middle)] },
    );
    const keel = createKeel();
    const { turnId } = await keel.run(root, "go");
    const records = await Promise.all([turnId, `${turnId}.1`, `${turnId}.1.1`].map((id) => keel.records.get(id)));
    assert.deepEqual(
      records.map(({ usage, treeUsage }) => [usage.inputTokens, treeUsage.inputTokens]),
      [
        [10, 70],
        [20, 60],
        [40, 40],
      ],
    );
    const flaky = agentOf([toolCall("note", {}, { usage: { inputTokens: 5, outputTokens: 0 } }), failing(), spend(7)], {
      id: "child",
      tools: [toolOf("note")],
    });
    const free = { usage: { inputTokens: 0, outputTokens: 0 } };
    const retried = await keel.run(
      parentOf(flaky, [toolCall("run-child", { brief: "x" }, free), text("done", free)], { retries: 1 }),
      "go",
    );
    assert.deepEqual([retried.record.usage.inputTokens, retried.record.treeUsage.inputTokens], [0, 12]);
  });

  test("BL-115 a child that fails or is stopped midway keeps its usage so far", async () => {
    const keel = createKeel();
    const paid = toolCall("note", {}, { usage: { inputTokens: 5, outputTokens: 1 } });
    const failed = agentOf([paid, failing()], { id: "child", tools: [toolOf("note")] });
    const stopped = agentOf([paid, (_request, { turnId }) => (void keel.stop(turnId, { scope: "subtree" }), hang())], {
      id: "child",
      tools: [toolOf("note")],
    });
    for (const child of [failed, stopped]) {
      const { turnId } = await keel.run(parentOf(child, [call, text("done")]), "go");
      assert.equal((await keel.records.get(`${turnId}.1`)).usage.totalTokens, 6);
    }
  });

  test("KeelError.isInstance knows what a failed run throws", async () => {
    const result = await run(agentOf([failing()]), "go");
    assert.throws(
      () => result.orThrow(),
      (error) => KeelError.isInstance(error) && error instanceof Error && error.details.turnId === result.turnId,
    );
  });
});
