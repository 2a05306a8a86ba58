import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, defineAgent, KeelError, run } from "../js/index.js";
import { cut, delay, fail, hang, reply, scriptedModel, text, toolCall, virtualClock } from "../js/testing/index.js";
import { agentOf, collect, lastOutputs, ofType, outputsIn, parentOf, toolOf } from "./small-agents.js";

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

describe("calls of one step", () => {
  test("NT-29 BL-053 one throwing call drops no result of its siblings, in request order", async () => {
    const clock = virtualClock();
    const wait = (ms) => new Promise((resolve) => clock.setTimer(clock.now() + ms, resolve));
    const tools = [
      toolOf("ok", async ({ ms }) => (await wait(ms), `after ${ms}`)),
      toolOf("broken", async ({ ms }) => {
        await wait(ms);
        throw new Error("private text");
      }),
    ];
    const agent = agentOf(
      [[toolCall("ok", { ms: 50 }), toolCall("broken", { ms: 10 }), toolCall("ok", { ms: 5 })], text("done")],
      { tools },
    );
    const keel = createKeel({ clock });
    const running = keel.run(agent, "go");
    await clock.advance(60);
    const result = await running;
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(lastOutputs(agent), [
      { type: "text", value: "after 50" },
      { type: "error-text", value: "tool dispatch failed" },
      { type: "text", value: "after 5" },
    ]);
    const ends = ofType(await keel.records.events(result.turnId), "tool.completed", "tool.failed");
    assert.deepEqual(
      ends.map(({ type, durationMs }) => [type, durationMs]),
      [
        ["tool.completed", 5],
        ["tool.failed", 10],
        ["tool.completed", 50],
      ],
    );
  });

  test("BL-054 of 27 parallel calls one reports a failure, and 26 bodies complete", async () => {
    let entered = 0;
    const tool = toolOf("work", async ({ n }) => {
      entered += 1;
      await Promise.resolve();
      return n === 13 ? { kind: "tool-result", isError: true, text: "not this one" } : n;
    });
    const calls = Array.from({ length: 27 }, (_, n) => toolCall("work", { n }));
    const agent = agentOf([calls, text("done")], { tools: [tool] });
    await run(agent, "go");
    const outputs = lastOutputs(agent);
    assert.equal(entered, 27);
    assert.deepEqual(
      outputs.map(({ type, value }) => (type === "json" ? value : `${type}: ${value}`)),
      Array.from({ length: 27 }, (_, n) => (n === 13 ? "error-text: not this one" : n)),
    );
  });

  test("BL-061 the same tool twice in one step runs twice, with ids of its own", async () => {
    const ids = [];
    const search = toolOf("search", ({ q }, { callId }) => (ids.push(callId), q));
    const agent = agentOf([[toolCall("search", { q: "X" }), toolCall("search", { q: "Y" })], text("done")], {
      tools: [search],
    });
    await run(agent, "go");
    assert.deepEqual(
      lastOutputs(agent).map(({ value }) => value),
      ["X", "Y"],
    );
    assert.equal(new Set(ids).size, 2);
  });

  test("D-10 model-issued calls of a step start together, explicitly exclusive ones one at a time, in order", async () => {
    const log = [];
    const body =
      (id) =>
      async ({ n }) => {
        log.push(`${id}${n} starts`);
        await Promise.resolve();
        log.push(`${id}${n} ends`);
      };
    const script = (id) => [[toolCall(id, { n: 1 }), toolCall(id, { n: 2 })], text("done")];
    for (const [id, rest] of [
      ["unset", {}],
      ["shared", { concurrency: "shared" }],
      ["exclusive", { concurrency: "exclusive" }],
      ["dynamic", { concurrency: ({ n }) => (n === 3 ? "shared" : "exclusive") }],
    ]) {
      await run(agentOf(script(id), { tools: [toolOf(id, body(id), rest)] }), "go");
    }
    const of = (id) => log.filter((line) => line.startsWith(id));
    assert.deepEqual(of("unset"), ["unset1 starts", "unset2 starts", "unset1 ends", "unset2 ends"]);
    assert.deepEqual(of("shared"), ["shared1 starts", "shared2 starts", "shared1 ends", "shared2 ends"]);
    assert.deepEqual(of("exclusive"), ["exclusive1 starts", "exclusive1 ends", "exclusive2 starts", "exclusive2 ends"]);
    assert.deepEqual(of("dynamic"), ["dynamic1 starts", "dynamic1 ends", "dynamic2 starts", "dynamic2 ends"]);
  });

  test('D-10 limits.toolExecution: "sequential" runs a whole step one call at a time', async () => {
    const log = [];
    const tool = (id) =>
      toolOf(id, async () => {
        log.push(`${id}+`);
        await Promise.resolve();
        log.push(`${id}-`);
      });
    const calls = [toolCall("a"), toolCall("b"), toolCall("c")];
    await run(agentOf([calls, text("done")], { tools: [tool("a"), tool("b"), tool("c")] }), "go", {
      limits: { toolExecution: "sequential" },
    });
    assert.deepEqual(log, ["a+", "a-", "b+", "b-", "c+", "c-"]);
  });

  test("BL-026 a call that rejects with an AbortError of its own fails alone", async () => {
    const abort = toolOf("abort", async () => {
      throw new DOMException("mine", "AbortError");
    });
    const agent = agentOf([[toolCall("ok"), toolCall("abort"), toolCall("ok")], text("went on")], {
      id: "child",
      tools: [toolOf("ok"), abort],
    });
    const parent = parentOf(agent, [toolCall("run-child", { brief: "go" }), text("done")]);
    const result = await run(parent, "go");
    assert.equal(result.outcome.status, "completed");
    assert.deepEqual(
      outputsIn(agent.model.requests[1].messages).map(({ type }) => type),
      ["text", "error-text", "text"],
    );
  });
});

describe("model calls", () => {
  const retryable = (rest = {}) => Object.assign(new Error("busy"), { isRetryable: true, ...rest });

  test("NT-40 retryable errors are retried within the step, after a growing pause, and use up no step", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const agent = agentOf(
      [fail(retryable()), fail(Object.assign(new Error("no"), { statusCode: 503 })), text("at last")],
      { budget: { steps: 1 } },
    );
    const running = keel.run(agent, "go");
    await clock.advance(0);
    assert.equal(agent.model.requests.length, 1);
    await clock.advance(2_000);
    const result = await running;
    assert.equal(result.text, "at last");
    assert.equal(result.record.budget.used.steps, 1);
    const restarts = ofType(await keel.records.events(result.turnId), "step.restarted");
    assert.deepEqual(
      restarts.map(({ step, attempt, reason }) => [step, attempt, reason.code, reason.message]),
      [
        [1, 2, "MODEL_ERROR", "busy"],
        [1, 3, "MODEL_ERROR", "no"],
      ],
    );
  });

  test("NT-40 three retries by default, limits.maxModelRetries sets the number, and 0 means none", async () => {
    for (const [limits, calls] of [
      [undefined, 4],
      [{ maxModelRetries: 1 }, 2],
      [{ maxModelRetries: 0 }, 1],
    ]) {
      const clock = virtualClock();
      const agent = agentOf(() => fail(retryable()));
      const running = createKeel({ clock }).run(agent, "go", { ...(limits && { limits }) });
      await clock.advance(60_000);
      const { outcome } = await running;
      assert.equal(outcome.cause.code, "MODEL_ERROR");
      assert.equal(agent.model.requests.length, calls);
    }
  });

  test("NT-40 D-5 the pause never goes past the deadline: the turn fails with the model's error instead", async () => {
    const clock = virtualClock();
    const agent = agentOf([fail(retryable({ responseHeaders: { "retry-after": "10" } })), text("too late")]);
    const running = createKeel({ clock }).run(agent, "go", { budget: { timeMs: 10_000 } });
    await clock.advance(1);
    assert.equal((await running).outcome.cause.code, "MODEL_ERROR");

    const patient = agentOf([fail(retryable({ responseHeaders: { "retry-after": "10" } })), text("in time")]);
    const later = createKeel({ clock }).run(patient, "go", { budget: { timeMs: 10_001 } });
    await clock.advance(9_999);
    assert.equal(patient.model.requests.length, 1);
    await clock.advance(1);
    assert.equal((await later).text, "in time");
  });

  test("NT-40 other errors fail the turn at once, with the very error as the cause", async () => {
    const error = Object.assign(new Error("bad request"), { statusCode: 400 });
    const agent = agentOf([fail(error)]);
    const result = await run(agent, "go");
    assert.equal(agent.model.requests.length, 1);
    assert.equal(result.outcome.cause.code, "MODEL_ERROR");
    assert.equal(result.outcome.cause.cause, error);
    assert.match(result.outcome.cause.message, /agent 'agent'.*bad request/);
    assert.throws(
      () => result.orThrow(),
      (thrown) => KeelError.isInstance(thrown) && thrown.code === "MODEL_ERROR" && thrown.cause === error,
    );
  });

  test("D-8 a cut reply is retried in run(), also after the first text", async () => {
    const clock = virtualClock();
    const agent = agentOf([cut("half a"), text("whole")]);
    const running = createKeel({ clock }).run(agent, "go");
    await clock.advance(1_000);
    const result = await running;
    assert.equal(result.text, "whole");
    assert.deepEqual(result.record.transcript.at(-1).content, [{ type: "text", text: "whole" }]);
  });

  test("D-8 limits.modelCallTimeoutMs bounds one model call, which is then retried", async () => {
    const clock = virtualClock();
    const signals = [];
    const agent = agentOf([
      (_request, { signal }) => (signals.push(signal), hang({ ignoreAbort: true })),
      delay(99, text("in time")),
    ]);
    const running = createKeel({ clock }).run(agent, "go", { limits: { modelCallTimeoutMs: 100 } });
    await clock.advance(99);
    assert.equal(signals[0].aborted, false);
    await clock.advance(1);
    assert.equal(signals[0].aborted, true);
    assert.equal(signals[0].reason.code, "TIMEOUT");
    await clock.advance(1_000);
    assert.equal((await running).text, "in time");
  });

  test("D-8 finish reasons length and content-filter are passed through, not failures", async () => {
    for (const finishReason of ["length", "content-filter"]) {
      const result = await run(agentOf([reply({ content: "as far as", finishReason })]), "go");
      assert.deepEqual(
        [result.outcome.status, result.finishReason, result.record.finishReason, result.text],
        ["completed", finishReason, finishReason, "as far as"],
      );
    }
  });

  test("NT-41 an empty reply ends the turn, empty", async () => {
    const result = await run(agentOf([reply({ content: [] })]), "go");
    assert.deepEqual([result.outcome.status, result.text, result.empty], ["completed", "", true]);
    assert.deepEqual(
      result.record.transcript.map(({ role }) => role),
      ["user"],
    );
  });

  test("D-33 a model that changes what it is sent changes nothing of ours", async () => {
    const seen = [];
    const model = {
      id: "vandal",
      async generate(request) {
        seen.push(JSON.stringify(request));
        for (const spoil of [
          () => request.messages.push({ role: "user", content: "injected" }),
          () => {
            request.messages.length = 0;
          },
          () => {
            request.messages[0].content = "changed";
          },
          () => request.tools.pop(),
          () => {
            request.tools[0].inputSchema.type = "array";
          },
          () => {
            request.providerOptions.p.mark = "changed";
          },
        ]) {
          try {
            spoil();
          } catch {
            /* frozen: as good */
          }
        }
        return seen.length === 1 ? { toolCalls: [{ toolName: "note" }] } : { text: "done" };
      },
    };
    const agent = agentOf(model, {
      tools: [toolOf("note")],
      modelOptions: { temperature: 0, providerOptions: { p: { mark: "mine" } } },
    });
    const result = await run(agent, "hello");
    const [first, second] = seen.map((request) => JSON.parse(request));
    assert.deepEqual(second.messages.slice(0, 1), first.messages);
    assert.deepEqual(
      second.messages.map(({ role }) => role),
      ["user", "assistant", "tool"],
    );
    assert.deepEqual(second.tools, first.tools);
    assert.deepEqual(second.providerOptions, { p: { mark: "mine" } });
    assert.equal(result.record.transcript[0].content, "hello");
  });

  test("D-39 modelOptions reach the model with every step", async () => {
    const agent = agentOf([toolCall("note"), text("done")], {
      tools: [toolOf("note")],
      modelOptions: {
        temperature: 0.5,
        maxOutputTokens: 99,
        toolChoice: { type: "required" },
        headers: { "x-a": "b" },
      },
    });
    await run(agent, "go");
    for (const { temperature, maxOutputTokens, toolChoice, headers } of agent.model.requests) {
      assert.deepEqual(
        { temperature, maxOutputTokens, toolChoice, headers },
        { temperature: 0.5, maxOutputTokens: 99, toolChoice: { type: "required" }, headers: { "x-a": "b" } },
      );
    }
  });

  test("D-38 one script per model object is consumed over all turns, and one call too many says so", async () => {
    const model = scriptedModel([text("one"), text("two")], { id: "shared" });
    const agent = agentOf(model);
    assert.deepEqual([(await run(agent, "a")).text, (await run(agent, "b")).text], ["one", "two"]);
    const { outcome } = await run(agent, "c");
    assert.equal(outcome.cause.code, "MODEL_ERROR");
    assert.match(outcome.cause.message, /call 3 exceeds the script of 2 steps/);
    const perTurn = agentOf(scriptedModel([toolCall("note"), text("each")], { perTurn: true }), {
      tools: [toolOf("note")],
    });
    assert.deepEqual(
      (await Promise.all([run(perTurn, "a"), run(perTurn, "b")])).map(({ text }) => text),
      ["each", "each"],
    );
    perTurn.model.assertComplete();
  });
});

describe("misuse", () => {
  const agent = agentOf(() => text("fine"));
  const cyclic = {};
  cyclic.self = cyclic;

  for (const [name, input, options, code] of [
    ["something that is no agent's input", 5, {}, "OPTION_INVALID"],
    ["an unknown option", "go", { maxSteps: 5 }, "OPTION_UNKNOWN"],
    ["a budget of 0 steps", "go", { budget: { steps: 0 } }, "BUDGET_INVALID"],
    ["money without a price", "go", { budget: { costUsd: 1 } }, "BUDGET_INVALID"],
    ["a tree's money without a price", "go", { limits: { tree: { costUsd: 1 } } }, "BUDGET_INVALID"],
    ["something that is no signal", "go", { signal: {} }, "OPTION_INVALID"],
    ["an identity without an id", "go", { identity: { scopes: [] } }, "OPTION_INVALID"],
    ["an ambient value that is no JSON", "go", { ambient: cyclic }, "OPTION_INVALID"],
    ["a message without a role", "go", { history: [{ content: "x" }] }, "OPTION_INVALID"],
    ["a message that is no JSON", "go", { history: [{ role: "user", content: [cyclic] }] }, "OPTION_INVALID"],
    ["an input that is no JSON", [{ type: "text", text: "x", big: 1n }], {}, "OPTION_INVALID"],
    ["a deliverable of some other agent", "go", { deliverable: { part: 1 } }, "OPTION_INVALID"],
  ]) {
    test(`NT-09 run() rejects and stream() throws for ${name}, and leaves no record`, async () => {
      const keel = createKeel();
      const isExpected = (error) =>
        KeelError.isInstance(error) && error.code === code && error.message.includes('"agent"');
      await assert.rejects(keel.run(agent, input, options), isExpected);
      assert.throws(() => keel.stream(agent, input, options), isExpected);
      assert.deepEqual((await keel.records.list()).items, []);
    });
  }

  test("NT-09 run() of something that is no agent rejects", async () => {
    await assert.rejects(run({ id: "x", model: {} }, "go"), { code: "OPTION_INVALID" });
  });

  test("NT-09 counts beyond 32 bits are as good as endless", async () => {
    const child = agentOf(() => text("fine"), { id: "child" });
    const parent = agentOf([[toolCall("run-child", { brief: "x" }), toolCall("note")], text("done")], {
      id: "parent",
      tools: [asTool(child, { retries: 2 ** 40 }), toolOf("note", undefined, { maxUses: 2 ** 40 })],
      budget: { steps: 2 ** 40, toolCalls: 2 ** 50 },
      limits: { maxDepth: 2 ** 40, maxModelRetries: 2 ** 40, toolResultBytes: Number.MAX_SAFE_INTEGER },
    });
    assert.equal((await run(parent, "go")).text, "done");
  });

  test("createKeel takes known options with possible values only", () => {
    for (const [options, code] of [
      [{ record: ":memory:" }, "OPTION_UNKNOWN"],
      [{ records: "file.db" }, "STORE_UNSUPPORTED"],
      [{ keep: { trees: -1 } }, "OPTION_INVALID"],
      [{ limits: { maxDepth: 1.5 } }, "LIMIT_INVALID"],
      [{ clock: { now: () => 0 } }, "OPTION_INVALID"],
      [{ capture: { redact: "all" } }, "OPTION_INVALID"],
      [{ price: 5 }, "OPTION_INVALID"],
    ]) {
      assert.throws(() => createKeel(options), { code });
    }
  });

  test('D-40 a closed keel takes no runs, and close stops the live ones with the reason "closed"', async () => {
    const keel = createKeel();
    const live = keel.run(agentOf([hang()]), "go");
    await keel.close();
    assert.deepEqual((await live).outcome, { status: "stopped", reason: "closed" });
    await assert.rejects(keel.run(agent, "go"), { code: "KEEL_CLOSED" });
    assert.throws(() => keel.stream(agent, "go"), { code: "KEEL_CLOSED" });
    assert.equal((await keel.records.list()).items.length, 1);
    await keel.close();
  });

  test("D-40 a keel is disposed of like any async resource", async () => {
    const keel = createKeel();
    await keel[Symbol.asyncDispose]();
    await assert.rejects(keel.run(agent, "go"), { code: "KEEL_CLOSED" });
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
