import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, defineAgent, run } from "../../js/index.js";
import { fail, scriptedModel, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, collect, lastOutputs, ofType, parentOf, toolOf } from "../scenes/small-agents.js";

describe("the shape of a tree of turns", () => {
  test("NT-01 a child starts with its own instructions and the brief, and nothing of the caller's", async () => {
    const child = agentOf([text("found")], { id: "child", instructions: "You are the child." });
    const parent = parentOf(
      child,
      [[text("secret plan"), toolCall("run-child", { brief: "look it up" })], text("done")],
      {},
      { instructions: "You are the parent." },
    );
    const result = await run(parent, "the user's words");
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(child.model.requests[0].messages, [
      { role: "system", content: "You are the child." },
      { role: "user", content: "look it up" },
    ]);
    assert.deepEqual(parent.model.requests[0].messages, [
      { role: "system", content: "You are the parent." },
      { role: "user", content: "the user's words" },
    ]);
  });

  test("NT-02 each result goes to the immediate caller, and only the root closes the root", async () => {
    const order = [];
    const say = (name, step) => () => (order.push(name), step);
    const t3 = agentOf([say("t3", text("deep"))], { id: "t3" });
    const t2 = agentOf([say("t2", toolCall("run-t3", { brief: "3" })), say("t2", text("middle"))], {
      id: "t2",
      tools: [asTool(t3)],
    });
    const t1 = agentOf([say("t1", toolCall("run-t2", { brief: "2" })), say("t1", text("top"))], {
      id: "t1",
      tools: [asTool(t2)],
    });
    const keel = createKeel();
    const result = await keel.run(t1, "go");
    assert.equal(result.text, "top");
    assert.deepEqual(order, ["t1", "t2", "t3", "t2", "t1"]);
    assert.deepEqual(lastOutputs(t2), [{ type: "json", value: { ok: true, text: "deep", parts: [] } }]);
    assert.deepEqual(lastOutputs(t1), [{ type: "json", value: { ok: true, text: "middle", parts: [] } }]);
    const ended = ofType(await keel.records.events(result.turnId, { tree: true }), "turn.completed");
    assert.deepEqual(
      ended.map(({ agentId }) => agentId),
      ["t3", "t2", "t1"],
    );
  });

  test("NT-03 an outcome is written once: completed, failed with a cause, or stopped with a reason", async () => {
    const outcomes = [];
    for (const [script, options] of [
      [[text("fine")], {}],
      [[fail(new Error("broken"))], {}],
      [[text("never said")], { signal: AbortSignal.abort("no") }],
    ]) {
      const keel = createKeel();
      const { outcome, record, turnId } = await keel.run(agentOf(script), "go", options);
      const events = ofType(await keel.records.events(turnId), "turn.completed", "turn.failed", "turn.stopped");
      outcomes.push([outcome.status, outcome.cause?.code ?? outcome.reason, record.status, events.length]);
    }
    assert.deepEqual(outcomes, [
      ["completed", undefined, "completed", 1],
      ["failed", "MODEL_ERROR", "failed", 1],
      ["stopped", "no", "stopped", 1],
    ]);
  });

  test("NT-04 BL-059 one definition in ten parallel delegations and three runs gives thirteen transcripts", async () => {
    const model = scriptedModel(({ messages }) => {
      const tools = messages.filter(({ role }) => role === "tool").length;
      return tools === 0
        ? [text(`saw ${messages[0].content}`), toolCall("note", { of: messages[0].content })]
        : text(`done ${messages[0].content}`);
    });
    const child = defineAgent({ id: "child", model, tools: [toolOf("note", ({ of }) => of)] });
    const calls = Array.from({ length: 10 }, (_, index) => toolCall("run-child", { brief: `brief ${index}` }));
    const parent = parentOf(child, [calls, text("all back")]);
    const keel = createKeel();
    const [result, ...own] = await Promise.all([
      keel.run(parent, "go"),
      ...[1, 2, 3].map((n) => keel.run(child, `run ${n}`)),
    ]);
    const children = (await keel.records.list({ parentTurnId: result.turnId })).items;
    const records = [...children, ...own.map(({ record }) => record)];
    assert.equal(records.length, 13);
    for (const { input, transcript, status } of records) {
      assert.equal(status, "completed");
      assert.deepEqual(
        transcript.map(({ role, content }) => (role === "tool" ? content[0].output.value : content)),
        [
          input,
          [
            { type: "text", text: `saw ${input}` },
            {
              type: "tool-call",
              toolCallId: transcript[2].content[0].toolCallId,
              toolName: "note",
              input: { of: input },
            },
          ],
          input,
          [{ type: "text", text: `done ${input}` }],
        ],
      );
    }
    assert.equal(new Set(records.map(({ input }) => input)).size, 13);
  });

  test("BL-060 two runs at once of one session keep their transcripts apart", async () => {
    const agent = agentOf({
      id: "echo",
      generate: async ({ messages }) => ({ text: `re: ${messages.at(-1).content}` }),
    });
    const identity = { id: "user-1", session: "s-1" };
    const [a, b] = await Promise.all(["A", "B"].map((input) => run(agent, input, { identity })));
    assert.deepEqual([a.text, b.text], ["re: A", "re: B"]);
    assert.notEqual(a.turnId, b.turnId);
    assert.deepEqual(
      a.record.transcript.map(({ role }) => role),
      ["user", "assistant"],
    );
    assert.deepEqual(
      b.record.transcript.map(({ role }) => role),
      ["user", "assistant"],
    );
  });

  test("NT-39a history stands between the instructions and the input, untouched", async () => {
    const history = [
      { role: "user", content: "What is 2 + 2?" },
      { role: "assistant", content: [{ type: "text", text: "4", providerOptions: { p: { mark: 1 } } }] },
    ];
    const agent = agentOf([text("8")], { instructions: "Be brief." });
    const result = await run(agent, [{ type: "text", text: "Doubled?" }], { history });
    assert.deepEqual(result.record.transcript, [
      { role: "system", content: "Be brief." },
      ...history,
      { role: "user", content: [{ type: "text", text: "Doubled?" }] },
      { role: "assistant", content: [{ type: "text", text: "8" }] },
    ]);
    assert.deepEqual(result.record.input, [{ type: "text", text: "Doubled?" }]);
  });

  test("NT-39a a run's transcript is the next one's history", async () => {
    const agent = agentOf([[toolCall("note", { n: 1 })], text("one"), text("two")], { tools: [toolOf("note")] });
    const first = await run(agent, "first");
    const second = await run(agent, "second", { history: first.record.transcript });
    assert.equal(second.text, "two");
    assert.deepEqual(agent.model.requests[2].messages.slice(0, -1), first.record.transcript);
  });
});

describe("D-36 instant models", () => {
  test("D-36 a timer that stops the run gets its turn although the model never pauses", async () => {
    const agent = agentOf(
      { id: "instant", generate: async () => ({ toolCalls: [{ toolName: "note" }] }) },
      { tools: [toolOf("note")] },
    );
    const stop = new AbortController();
    setTimeout(() => stop.abort("enough"), 0);
    const result = await run(agent, "go", { signal: stop.signal, budget: { steps: 2 ** 31, toolCalls: 2 ** 31 } });
    assert.deepEqual(result.outcome, { status: "stopped", reason: "enough" });
  });

  test("BL-002 a hundred rounds of three calls that finish in any order are counted exactly", async () => {
    const clock = virtualClock();
    const tool = toolOf("work", () => new Promise((resolve) => clock.setTimer(clock.now() + 1, resolve)));
    const agent = agentOf(
      ({ messages }) => (messages.length < 200 ? [toolCall("work"), toolCall("work"), toolCall("work")] : text("done")),
      { tools: [tool] },
    );
    const running = createKeel({ clock }).run(agent, "go", { budget: { steps: 200, toolCalls: 1_000 } });
    await clock.advance(200);
    const { record, outcome } = await running;
    assert.equal(outcome.status, "completed");
    assert.deepEqual(record.budget.used, { steps: 101, toolCalls: 300, nestedCalls: 0, timeMs: 100 });
  });

  test("a stream of an instant model is read to its end", async () => {
    const keel = createKeel();
    const agent = agentOf(({ messages }) => (messages.length < 100 ? toolCall("note") : text("done")), {
      tools: [toolOf("note")],
      budget: { steps: 100, toolCalls: 100 },
    });
    const events = await collect(keel.stream(agent, "go"));
    assert.equal(events.at(-1).type, "turn.completed");
    assert.equal(ofType(events, "tool.completed").length, 50);
  });
});
