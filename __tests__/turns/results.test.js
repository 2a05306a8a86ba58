/* oxlint-disable unicorn/no-thenable -- thenables are what some of these tests are about */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, definePart, KeelError, run, toolError, toolResult } from "../../js/index.js";
import { reply, text, toolCall } from "../../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, parentOf, toolOf } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });
const note = definePart({ name: "note", schema: {}, persist: "content" });
const draft = definePart({ name: "draft", schema: anything });
const quietly = reply({ content: [] });

/** What the caller reads of a child that runs this script. */
async function delegated(script, rest = {}, connection = {}) {
  const child = agentOf(script, { id: "child", ...rest });
  const parent = parentOf(child, [call, text("done")], connection);
  const keel = createKeel();
  const result = await keel.run(parent, "go");
  return { output: lastOutputs(parent)[0], result, keel, childId: `${result.turnId}.1` };
}

describe("what a caller gets", () => {
  test("NT-12 without a contract: text and parts", async () => {
    const emit = toolOf("emit", (_input, ctx) => (ctx.emit(note, 1), ctx.emit(draft, { a: 1 }), ctx.emit(note, 2)));
    const { output } = await delegated([toolCall("emit"), text("found it")], { tools: [emit], emits: [note, draft] });
    assert.deepEqual(output, {
      type: "json",
      value: {
        ok: true,
        text: "found it",
        parts: [
          { part: "note", value: 1 },
          { part: "draft", value: { a: 1 } },
          { part: "note", value: 2 },
        ],
      },
    });
  });

  test("NT-12 the text is that of the last step that had any", async () => {
    const { output } = await delegated(
      [[text("first"), toolCall("work")], [text("sec"), text("ond"), toolCall("work")], toolCall("work"), quietly],
      { tools: [toolOf("work")] },
    );
    assert.deepEqual(output.value, { ok: true, text: "second", parts: [] });
  });

  test("BL-052 the texts of all steps are in the child's record", async () => {
    const { keel, childId, output } = await delegated(
      [[text("one"), toolCall("work")], [text("two"), toolCall("work")], text("see above")],
      { tools: [toolOf("work")] },
    );
    assert.equal(output.value.text, "see above");
    const { transcript } = await keel.records.get(childId);
    const texts = transcript
      .filter(({ role }) => role === "assistant")
      .flatMap(({ content }) => content.filter(({ type }) => type === "text").map((part) => part.text));
    assert.deepEqual(texts, ["one", "two", "see above"]);
  });

  test("BL-039 BL-040 NT-12 a child without text and parts is an empty success that says so", async () => {
    for (const script of [[quietly], [toolCall("work"), quietly], [text("")]]) {
      const { output, keel, childId } = await delegated(script, { tools: [toolOf("work")] });
      assert.deepEqual(output, { type: "json", value: { ok: true, text: "", parts: [], empty: true } });
      assert.equal((await keel.records.get(childId)).empty, true);
      assert.equal(ofType(await keel.records.events(childId), "turn.completed")[0].empty, true);
    }
  });

  test("NT-12 a part alone, or a text alone, is not empty", async () => {
    const emit = toolOf("emit", (_input, ctx) => ctx.emit(note, null));
    const { output } = await delegated([toolCall("emit"), quietly], { tools: [emit], emits: [note] });
    assert.deepEqual(output.value, { ok: true, text: "", parts: [{ part: "note", value: null }] });
    assert.equal((await run(agentOf([text(" ")]), "go")).empty, undefined);
  });

  test("NT-12 only a completed turn is called empty", async () => {
    const result = await run(agentOf([text("never")]), "go", { signal: AbortSignal.abort("no") });
    assert.deepEqual(
      [result.empty, result.record.empty, "partial" in result, "deliverable" in result],
      [undefined, undefined, false, false],
    );
  });

  for (const value of [undefined, null, "", 0, false, [], {}]) {
    const named = JSON.stringify(value) ?? "undefined";

    test(`NT-13 BL-040 a tool that returns ${named} answers its call`, async () => {
      const agent = agentOf([toolCall("give", {}, { id: "p-1" }), text("done")], {
        tools: [toolOf("give", () => value)],
      });
      const { record } = await run(agent, "go");
      const [call_, answer] = record.transcript.slice(1);
      assert.equal(call_.content[0].toolCallId, "p-1");
      const output = typeof value === "string" ? { type: "text", value } : { type: "json", value: value ?? null };
      assert.deepEqual(answer.content, [{ type: "tool-result", toolCallId: "p-1", toolName: "give", output }]);
    });

    test(`NT-13 BL-040 a child whose deliverable is ${named} answers its caller's call`, async () => {
      const { output } = await delegated(
        [toolCall("submit_note", { value: value ?? null })],
        { emits: [note] },
        { deliverable: note },
      );
      assert.deepEqual(output, { type: "json", value: { ok: true, deliverable: value ?? null } });
    });

    test(`NT-13 a part that is ${named} is a part like any other`, async () => {
      let thrown;
      const emit = toolOf("emit", (_input, ctx) => {
        try {
          ctx.emit(note, value);
        } catch (error) {
          thrown = error;
        }
      });
      const { output } = await delegated([toolCall("emit"), text("done")], { tools: [emit], emits: [note] });
      if (value === undefined) assert.equal(thrown.code, "PART_INVALID");
      else assert.deepEqual(output.value.parts, [{ part: "note", value }]);
    });
  }

  test("the root's result has its parts, usage, record and finish reason", async () => {
    const emit = toolOf("emit", (_input, ctx) => ctx.emit(draft, { n: 1 }));
    const agent = agentOf([toolCall("emit"), text("said")], { tools: [emit], emits: [draft, note] });
    const result = await run(agent, "go");
    assert.deepEqual(
      [result.text, result.parts, result.finishReason],
      ["said", [{ part: "draft", value: { n: 1 } }], "stop"],
    );
    assert.deepEqual(result.usage, { inputTokens: 20, outputTokens: 10, totalTokens: 30, nudges: 0 });
    assert.equal(result.record.turnId, result.turnId);
    assert.deepEqual(result.record.parts, []);
    assert.equal(result.orThrow(), result);
  });

  test("D-32 optional token counts are there when some provider said them", async () => {
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 };
    const result = await run(
      agentOf([toolCall("work", {}, { usage }), text("x", { usage: { inputTokens: 1, outputTokens: 1 } })], {
        tools: [toolOf("work")],
      }),
      "go",
    );
    assert.deepEqual(result.usage, {
      inputTokens: 11,
      outputTokens: 6,
      totalTokens: 17,
      cacheReadTokens: 4,
      reasoningTokens: 2,
      nudges: 0,
    });
  });

  test("a stopped run's orThrow() throws STOPPED with the reason underneath, a failed one's its cause", async () => {
    const stopped = await run(agentOf([text("x")]), "go", { signal: AbortSignal.abort("why") });
    assert.throws(
      () => stopped.orThrow(),
      (error) => KeelError.isInstance(error) && error.code === "STOPPED" && error.cause === "why",
    );
    const failed = await run(
      agentOf(() => toolCall("work"), { tools: [toolOf("work")], budget: { steps: 1 } }),
      "go",
    );
    assert.throws(
      () => failed.orThrow(),
      (error) =>
        error.code === "BUDGET_STEPS" &&
        error.details === failed.outcome.cause &&
        error.message === failed.outcome.cause.message,
    );
  });
});

describe("what a tool reports", () => {
  /** What the model and the events show of one call to a tool with this body. */
  async function called(execute, rest = {}, keelOptions = {}) {
    const agent = agentOf([toolCall("tool"), text("went on")], { tools: [toolOf("tool", execute, rest)] });
    const keel = createKeel(keelOptions);
    const result = await keel.run(agent, "go");
    assert.equal(result.text, "went on");
    const [end] = ofType(await keel.records.events(result.turnId), "tool.completed", "tool.failed");
    return { output: lastOutputs(agent)[0], end };
  }

  test("toolResult separates what the model reads from the value and from what the host is told", async () => {
    const { output, end } = await called(() =>
      toolResult({ value: { rows: [1, 2] }, text: "two rows", metadata: { took: 5 } }),
    );
    assert.deepEqual(output, { type: "text", value: "two rows" });
    assert.deepEqual([end.type, end.isError, end.metadata], ["tool.completed", false, { took: 5 }]);
    assert.deepEqual((await called(() => toolResult({ value: { rows: [] } }))).output, {
      type: "json",
      value: { rows: [] },
    });
    assert.deepEqual((await called(() => toolResult())).output, { type: "json", value: null });
    assert.deepEqual((await called(() => toolResult({ value: { why: 1 }, isError: true }))).output, {
      type: "error-json",
      value: { why: 1 },
    });
  });

  test("toolResult takes known options only", () => {
    assert.throws(() => toolResult({ error: true }), { code: "OPTION_UNKNOWN" });
    assert.throws(() => toolResult({ isError: "yes" }), { code: "OPTION_INVALID" });
    assert.throws(() => toolResult({ text: 5 }), { code: "OPTION_INVALID" });
  });

  for (const [how, execute] of [
    ["returned", () => toolError("no such city: Ulm?")],
    [
      "thrown",
      () => {
        throw toolError("no such city: Ulm?");
      },
    ],
    [
      "rejected with",
      async () => {
        throw toolError("no such city: Ulm?");
      },
    ],
  ]) {
    test(`toolError ${how} is answered to the model verbatim`, async () => {
      const { output, end } = await called(execute);
      assert.deepEqual(output, { type: "error-text", value: "no such city: Ulm?" });
      assert.deepEqual([end.type, end.isError, end.error], ["tool.completed", true, "no such city: Ulm?"]);
    });
  }

  const secret = () => {
    throw new Error("password is hunter2");
  };

  test("D-11 a foreign exception's text reaches neither model nor events", async () => {
    const { output, end } = await called(secret);
    assert.deepEqual(output, { type: "error-text", value: "tool dispatch failed" });
    assert.deepEqual([end.type, end.error], ["tool.failed", { code: "TOOL_ERROR", message: "tool dispatch failed" }]);
  });

  test("D-11 exposeErrors shows it to the model, and a tool's own word wins over the keel's", async () => {
    const shown = { type: "error-text", value: "password is hunter2" };
    const kept = { type: "error-text", value: "tool dispatch failed" };
    assert.deepEqual((await called(secret, { exposeErrors: true })).output, shown);
    assert.deepEqual((await called(secret, {}, { exposeErrors: true })).output, shown);
    assert.deepEqual((await called(secret, { exposeErrors: false }, { exposeErrors: true })).output, kept);
    const { end } = await called(secret, { exposeErrors: true });
    assert.doesNotMatch(JSON.stringify(end), /hunter2/);
  });

  test("D-39 an exposed text is cut like any result", async () => {
    const long = () => {
      throw new Error("x".repeat(1_000));
    };
    const { output } = await called(long, { exposeErrors: true }, { limits: { toolResultBytes: 100 } });
    assert.equal(output.value, `${"x".repeat(100)}\n[truncated: the first 100 of 1000 bytes]`);
  });

  for (const thrown of [
    "a string",
    undefined,
    null,
    5,
    Symbol("s"),
    Object.create(null),
    new Proxy(
      {},
      {
        get() {
          throw new Error("trap");
        },
      },
    ),
  ]) {
    test(`BL-098 whatever is thrown (${typeof thrown}) answers the call`, async () => {
      for (const execute of [
        () => {
          throw thrown;
        },
        () => Promise.reject(thrown),
      ]) {
        assert.deepEqual((await called(execute)).output, { type: "error-text", value: "tool dispatch failed" });
        assert.equal((await called(execute, { exposeErrors: true })).output.type, "error-text");
      }
    });
  }

  test("BL-098 D-11 a tool that throws before it returns a promise, and thenables that misbehave, answer once", async () => {
    const cases = [
      [
        {
          then() {
            throw new Error("in then");
          },
        },
        "error-text",
      ],
      [
        {
          then(resolve) {
            resolve(1);
            resolve(2);
          },
        },
        "json",
      ],
      [
        {
          then(resolve, reject) {
            resolve(1);
            reject(new Error("also"));
          },
        },
        "json",
      ],
      [
        {
          then(_resolve, reject) {
            reject(new Error("no"));
          },
        },
        "error-text",
      ],
      [
        {
          then(resolve) {
            resolve({
              then(inner) {
                inner(3);
              },
            });
          },
        },
        "json",
      ],
      [
        Object.defineProperty({}, "then", {
          get() {
            throw new Error("getter");
          },
        }),
        "error-text",
      ],
    ];
    for (const [thenable, type] of cases) {
      const { output, end } = await called(() => thenable);
      assert.deepEqual([output.type, end.type], [type, type === "json" ? "tool.completed" : "tool.failed"]);
    }
  });
});
