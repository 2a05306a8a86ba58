import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { callModel, checkModel, describeModelError } from "../../js/model/call-model.js";
import {
  cut,
  delay,
  fail,
  hang,
  reply,
  scriptedModel,
  text,
  toolCall,
  toolContext,
  virtualClock,
} from "../../js/testing/index.js";

const request = Object.freeze({ messages: Object.freeze([Object.freeze({ role: "user", content: "Hi" })]), tools: [] });

function ask(model, { stream = false, onDelta, turnId, clock, signal = new AbortController().signal } = {}) {
  return callModel(model, request, { signal, stream, turnId, clock }, onDelta);
}

describe("D-38 a script", () => {
  test("is consumed in call order, one step a call", async () => {
    const model = scriptedModel([
      text("one"),
      toolCall("search", { q: "x" }),
      [text("both"), toolCall("a"), toolCall("b", '{"not json', { id: "mine" })],
      "plain",
      { content: "raw", finishReason: "length" },
      reply({ content: "whole", usage: { inputTokens: 1, outputTokens: 2 } }),
      (given, { call }) => text(`${given.messages.length} message, call ${call}`),
    ]);
    checkModel(model, "agent 'a'");
    const replies = [];
    for (let call = 1; call <= 7; call += 1) replies.push(await ask(model));
    assert.deepEqual(
      replies.map(({ content }) => content.map((part) => part.text ?? [part.toolCallId, part.toolName, part.input])),
      [
        ["one"],
        [["call-1", "search", '{"q":"x"}']],
        ["both", ["call-2", "a", "{}"], ["mine", "b", '{"not json']],
        ["plain"],
        ["raw"],
        ["whole"],
        ["1 message, call 7"],
      ],
    );
    assert.deepEqual(replies[0].usage, { inputTokens: 10, outputTokens: 5, totalTokens: 15 });
    assert.equal(replies[4].finishReason, "length");
    assert.deepEqual(replies[5].usage, { inputTokens: 1, outputTokens: 2, totalTokens: 3 });
    assert.equal(model.requests.length, 7);
    model.assertComplete();
  });

  test("says which call was one too many, and does not ask for a retry", async () => {
    const model = scriptedModel([text("one")], { id: "planner" });
    await ask(model);
    await assert.rejects(ask(model), (error) => {
      assert.equal(error.message, "scripted model 'planner': call 2 exceeds the script of 1 step");
      assert.equal(describeModelError(error).retryable, false);
      return true;
    });
  });

  test("says what was left over", async () => {
    const model = scriptedModel([text("one"), toolCall("search")]);
    assert.throws(() => model.assertComplete(), /all 2 steps.*found 0 used; next would be text/);
    await ask(model);
    assert.throws(() => model.assertComplete(), /found 1 used; next would be a call to 'search'/);
    await ask(model);
    model.assertComplete();
  });

  test("starts anew in each turn with perTurn", async () => {
    const model = scriptedModel([text("first"), toolCall("t")], { perTurn: true });
    const said = [];
    for (const turnId of ["a", "b", "a", "b"]) said.push((await ask(model, { turnId })).content[0]);
    assert.deepEqual(
      said.map((part) => part.text ?? part.toolCallId),
      ["first", "first", "call-1", "call-1"],
    );
    model.assertComplete();
    await ask(model, { turnId: "c" });
    assert.throws(() => model.assertComplete(), /found 1 used/);
  });

  test("may be one function, told the turn", async () => {
    const model = scriptedModel(async (_request, { turnId, call }) => `${turnId} ${call}`);
    for (const [turnId, expected] of [
      ["a", "a 1"],
      ["b", "b 1"],
      ["a", "a 2"],
    ]) {
      assert.equal((await ask(model, { turnId })).content[0].text, expected);
    }
    model.assertComplete();
  });

  test("keeps snapshots of requests", async () => {
    const model = scriptedModel([text("one"), text("two")]);
    const messages = [...request.messages];
    await callModel(model, { ...request, messages }, { stream: false });
    messages.push(Object.freeze({ role: "user", content: "more" }));
    await callModel(model, { ...request, messages }, { stream: false });
    assert.deepEqual(
      model.requests.map((sent) => sent.messages.length),
      [1, 2],
    );
  });

  test("that is no script is refused", () => {
    assert.throws(() => scriptedModel("text"), { code: "OPTION_INVALID" });
    assert.throws(() => scriptedModel([], { chunks: 0 }), { code: "OPTION_INVALID" });
  });
});

describe("steps that do not just answer", () => {
  test("fail rejects with the very error", async () => {
    const error = Object.assign(new Error("busy"), { isRetryable: true });
    await assert.rejects(ask(scriptedModel([fail(error)])), (thrown) => thrown === error);
    await assert.rejects(ask(scriptedModel([fail("words")])), (thrown) => thrown === "words");
  });

  test("hang ends with an abort, unless told to ignore it", async () => {
    const controller = new AbortController();
    const model = scriptedModel([hang(), hang(), hang({ ignoreAbort: true })]);
    const options = { signal: controller.signal };
    const first = ask(model, options);
    controller.abort("enough");
    await assert.rejects(first, (thrown) => thrown === "enough");
    await assert.rejects(ask(model, options), (thrown) => thrown === "enough");
    const never = ask(model, options).finally(() => assert.fail("it should hang"));
    assert.equal(await Promise.race([never, new Promise((resolve) => setImmediate(resolve, "still"))]), "still");
  });

  test("delay waits on the clock that it is given", async () => {
    const clock = virtualClock();
    let said;
    ask(scriptedModel([delay(100, text("late"))]), { clock }).then(({ content }) => (said = content[0].text));
    await clock.advance(99);
    assert.equal(said, undefined);
    await clock.advance(1);
    assert.equal(said, "late");
  });

  test("delay delays a function step, too", async () => {
    const clock = virtualClock();
    const waited = ask(scriptedModel([delay(5, () => text("late"))]), { clock });
    await clock.advance(5);
    assert.equal((await waited).content[0].text, "late");
  });

  test("delay stops waiting when it is aborted", async () => {
    const controller = new AbortController();
    const waited = ask(scriptedModel([delay(3_600_000, text("late"))]), { signal: controller.signal });
    controller.abort("enough");
    await assert.rejects(waited, (thrown) => thrown === "enough");
  });

  test("D-8 cut breaks a stream after its text, retryably", async () => {
    const deltas = [];
    const model = scriptedModel([cut("Hel"), cut("Hel")]);
    for (const stream of [true, false]) {
      await assert.rejects(ask(model, { stream, onDelta: ({ text }) => deltas.push(text) }), (error) => {
        assert.equal(describeModelError(error).retryable, true);
        return true;
      });
    }
    assert.deepEqual(deltas, ["Hel"]);
  });

  test("chunks divides texts for whoever streams", async () => {
    const model = scriptedModel([[text("Hello!"), toolCall("t")], text("Hello!"), text("")], { chunks: 3 });
    const deltas = [];
    const onDelta = ({ text }) => deltas.push(text);
    const streamed = await ask(model, { stream: true, onDelta });
    assert.deepEqual(deltas, ["He", "ll", "o!"]);
    assert.deepEqual(
      streamed.content.map(({ type }) => type),
      ["text", "tool-call"],
    );
    assert.equal(streamed.usage.totalTokens, 15);
    assert.equal((await ask(model)).content[0].text, "Hello!");
    assert.deepEqual((await ask(model, { stream: true, onDelta })).content, []);
  });

  test("a function may answer nothing, which is an error of its own", async () => {
    await assert.rejects(ask(scriptedModel([() => undefined])), /model 'scripted': expected a reply/);
  });

  test("a function may answer a stream", async () => {
    const deltas = (async function* () {
      yield { type: "text-delta", delta: "Hi" };
      yield { type: "finish" };
    })();
    assert.equal((await ask(scriptedModel([() => deltas]))).content[0].text, "Hi");
  });
});

describe("D-39 a context outside any turn", () => {
  test("refuses nested calls by name, and may be left unawaited", async () => {
    const context = toolContext({ callId: "call-9" });
    context.callTool("ignored", {});
    await assert.rejects(context.callTool({ id: "search" }, {}), {
      code: "TOOL_FAILED",
      message:
        "cannot call tool 'search' from tool call 'call-9': nested tool calls are only available while the agent loop executes the calling tool",
    });
  });

  test("has defaults that can be overridden", () => {
    const controller = new AbortController();
    const context = toolContext({ signal: controller.signal, identity: { id: "ada" } });
    assert.equal(context.abortSignal, controller.signal);
    assert.equal(context.identity.id, "ada");
    assert.equal(context.level, 0);
    assert.equal(context.budget.timeLeftMs, undefined);
    context.emit({}, 1);
    context.progress({ message: "half" });
  });
});
