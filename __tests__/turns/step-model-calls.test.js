import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, KeelError, run } from "../../js/index.js";
import { cut, delay, fail, hang, reply, scriptedModel, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, ofType, toolOf } from "../scenes/small-agents.js";

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
