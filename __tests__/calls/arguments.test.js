import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as v from "valibot";
import { z } from "zod";

import { asTool, createKeel, run } from "../../js/index.js";
import { reply, text, toolCall } from "../../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, toolOf } from "../scenes/small-agents.js";

const needsN = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };

/** Calls a tool once with these arguments, next to a call that is fine, and tells what came of it. */
async function called(args, definition = {}, options = {}) {
  const inputs = [];
  const tool = toolOf("tool", (input) => (inputs.push(input), "ran"), definition);
  const agent = agentOf([[toolCall("tool", args), toolCall("other")], text("went on")], {
    tools: [tool, toolOf("other")],
  });
  const keel = createKeel();
  const result = await keel.run(agent, "go", options);
  const events = await keel.records.events(result.turnId);
  const [answer, other] = agent.model.requests.length > 1 ? lastOutputs(agent) : [];
  return { result, inputs, answer, other, refused: ofType(events, "tool.refused") };
}

describe("arguments that are no JSON", () => {
  for (const broken of ['{"a":', "abc", '{"a":1}}', "{'a': 1}", '{"a":1,}', "\u0000", "undefined", "NaN", '"\\ud8']) {
    test(`BL-080 ${JSON.stringify(broken)} enters no body, and the model is told that it is no JSON`, async () => {
      const { inputs, answer, other, refused, result } = await called(broken);
      assert.deepEqual([inputs, result.text, other.type], [[], "went on", "text"]);
      assert.equal(answer.type, "error-text");
      assert.match(answer.value, /'tool'.*invalid JSON/);
      assert.deepEqual(
        refused.map(({ callId, error }) => [callId, error.code]),
        [["call-1", "TOOL_FAILED"]],
      );
      assert.equal(typeof result.record.transcript[1].content[0].input, "string");
    });
  }

  test("BL-080 BL-081 5 MB of garbage are answered in under 2 KB, in the transcript too", async () => {
    const { inputs, answer, result } = await called(`{"a": ${"x".repeat(5_000_000)}`);
    assert.deepEqual(inputs, []);
    assert.ok(answer.value.length < 2_000);
    assert.ok(JSON.stringify(result.record.transcript).length < 4_000);
  });
});

describe("arguments that do not fit", () => {
  for (const args of ["null", "[]", '"x"', "3", "true", "[[1]]", "{}", '{"n":"1"}', '{"n":1,"m":2}']) {
    test(`BL-081 ${args} are refused without hurting the other call of the step`, async () => {
      const { inputs, answer, other } = await called(args, { input: needsN });
      assert.deepEqual([inputs, answer.type, other.value], [[], "error-text", "ok"]);
      assert.match(answer.value, /^invalid arguments for 'tool': /);
      assert.ok(answer.value.length < 2_000);
    });
  }

  test("BL-081 however much is wrong, the answer is bounded", async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${"k".repeat(900)}${index}`, 1]));
    const { answer } = await called(many, { input: needsN });
    assert.ok(answer.value.length < 2_400, String(answer.value.length));
  });

  test("D-25 nesting beyond 128 levels is VALUE_TOO_DEEP, 128 is not; ten thousand crash nothing", async () => {
    const nested = (depth) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    assert.equal((await called(nested(128))).inputs.length, 1);
    for (const depth of [129, 10_000, 100_000]) {
      const { inputs, refused, answer } = await called(nested(depth));
      assert.equal(inputs.length, 0);
      assert.equal(refused[0].error.code, "VALUE_TOO_DEEP");
      assert.match(answer.value, /128/);
    }
  });

  for (const text_ of ["", "   ", "\n"]) {
    test(`BL-082 ${JSON.stringify(text_)} stands for {}, which fits or is refused like any other`, async () => {
      assert.deepEqual((await called(text_)).inputs, [{}]);
      const { inputs, answer, result } = await called(text_, { input: needsN });
      assert.deepEqual([inputs, result.text], [[], "went on"]);
      assert.match(answer.value, /\/n/);
    });
  }

  test("BL-082 BL-083 absent arguments stand for {}, with a Standard Schema's defaults", async () => {
    const seen = [];
    const tool = toolOf("tool", (input) => void seen.push(input), {
      input: z.object({ n: z.number().default(3), s: z.string().optional() }),
    });
    const agent = agentOf(
      [
        reply({ content: [{ type: "tool-call", toolCallId: "1", toolName: "tool" }] }),
        reply({ content: [{ type: "tool-call", toolCallId: "2", toolName: "tool", input: undefined }] }),
        text("done"),
      ],
      { tools: [tool] },
    );
    await run(agent, "go");
    assert.deepEqual(seen, [{ n: 3 }, { n: 3 }]);
  });

  test('limits.invalidArgs "fail" fails the turn with the issues; the default answers the model', async () => {
    const { result } = await called({ n: "x" }, { input: needsN }, { limits: { invalidArgs: "fail" } });
    const { cause } = result.outcome;
    assert.deepEqual([cause.code, cause.issues.map(({ path }) => path)], ["VALIDATION", ["/n"]]);
    const { result: broken } = await called("{", {}, { limits: { invalidArgs: "fail" } });
    assert.equal(broken.outcome.cause.code, "VALIDATION");
    const { result: unknown } = await called({}, { access: () => false }, { limits: { invalidArgs: "fail" } });
    assert.equal(unknown.outcome.status, "completed");
  });

  for (const [vendor, schema] of [
    ["zod", z.object({ n: z.number().refine((n) => n > 5, "must be above 5") })],
    [
      "valibot",
      v.object({
        n: v.pipe(
          v.number(),
          v.check((n) => n > 5, "must be above 5"),
        ),
      }),
    ],
  ]) {
    test(`D-26 what only ${vendor} knows is answered in the same form, and the body is not entered`, async () => {
      const { inputs, answer } = await called({ n: 1 }, { input: schema });
      assert.deepEqual(inputs, []);
      assert.match(answer.value, /^invalid arguments for 'tool': .*\/n.*must be above 5/s);
    });
  }

  test("D-26 a schema that throws, rejects or answers nonsense refuses the call", async () => {
    const standard = (validate) => ({
      "~standard": {
        version: 1,
        vendor: "test",
        validate,
        jsonSchema: { input: () => anything, output: () => anything },
      },
    });
    for (const validate of [
      () => {
        throw new Error("in the schema");
      },
      async () => {
        throw new Error("in the schema");
      },
      () => undefined,
      () => null,
    ]) {
      const { inputs, answer, result } = await called({}, { input: standard(validate) });
      assert.deepEqual([inputs, answer.type, result.text], [[], "error-text", "went on"]);
    }
    assert.deepEqual((await called({}, { input: standard(async () => ({ value: "slowly" })) })).inputs, ["slowly"]);
  });
});

describe("what a schema makes of arguments", () => {
  test("BL-119 defaults, transforms, pipes and preprocessing are applied once, and the model is told the input side", async () => {
    let transforms = 0;
    const input = z.object({
      at: z.iso.date().transform((at) => (transforms++, new Date(`${at}T00:00:00Z`))),
      n: z.string().transform(Number),
      unit: z.string().default("m"),
      tag: z.preprocess((tag) => String(tag).trim(), z.string()),
    });
    const { inputs } = await called({ at: "2026-01-02", n: "12", tag: " x " }, { input });
    assert.deepEqual(inputs, [{ at: new Date("2026-01-02T00:00:00Z"), n: 12, unit: "m", tag: "x" }]);
    assert.equal(transforms, 1);
    const { json } = toolOf("tool", () => {}, { input }).input;
    assert.deepEqual(
      [json.properties.at.type, json.properties.n.type, json.required.includes("unit")],
      ["string", "string", false],
    );
  });

  test("BL-119 a default that is a function is asked once per call", async () => {
    let asked = 0;
    const input = z.object({ id: z.number().default(() => (asked += 1)) });
    toolOf("converted", () => {}, { input });
    const before = asked;
    assert.deepEqual((await called({}, { input })).inputs, [{ id: before + 1 }]);
    assert.equal(asked, before + 1);
  });

  test("D-26 plain JSON Schema fills in no defaults and drops nothing", async () => {
    const input = { type: "object", properties: { n: { type: "number", default: 3 } } };
    assert.deepEqual((await called({ extra: [1] }, { input })).inputs, [{ extra: [1] }]);
  });

  const optional = {
    type: "object",
    properties: { limit: { type: "number" }, note: { type: ["string", "null"] }, q: { type: "string" } },
    required: ["q"],
  };
  const normalise = { limits: { invalidArgs: "normalizeThenReturnToolError" } };

  test("BL-122 null for an optional field is refused, or dropped where the policy normalises; nullable ones keep it", async () => {
    const args = { q: "x", limit: null, note: null };
    assert.equal((await called(args, { input: optional })).answer.type, "error-text");
    assert.deepEqual((await called(args, { input: optional }, normalise)).inputs, [{ q: "x", note: null }]);
  });

  test("BL-122 null for a required field stays an error", async () => {
    const { inputs, answer } = await called({ q: null }, { input: optional }, normalise);
    assert.deepEqual([inputs, answer.type], [[], "error-text"]);
  });

  test("BL-122 a Standard Schema's default applies to what was dropped", async () => {
    const input = z.object({ q: z.string(), limit: z.number().default(10), note: z.string().nullable() });
    assert.deepEqual((await called({ q: "x", limit: null, note: null }, { input }, normalise)).inputs, [
      { q: "x", limit: 10, note: null },
    ]);
  });
});

describe("names and ids", () => {
  test("NT-41 BL-085 D-13 an unknown tool is answered once per call, with the tools that exist", async () => {
    const agent = agentOf([[toolCall("serach"), toolCall("serach"), toolCall("")], text("went on")], {
      tools: [
        toolOf("search"),
        toolOf("later", undefined, { exposure: "deferred" }),
        toolOf("never", undefined, { exposure: "hidden" }),
      ],
    });
    const keel = createKeel();
    const result = await keel.run(agent, "go");
    assert.equal(result.text, "went on");
    const answer = { type: "error-text", value: "tool not found: serach\navailable tools: search" };
    assert.deepEqual(lastOutputs(agent), [
      answer,
      answer,
      { type: "error-text", value: "tool not found: \navailable tools: search" },
    ]);
    const refused = ofType(await keel.records.events(result.turnId), "tool.refused");
    assert.deepEqual(
      refused.map(({ error }) => error.code),
      ["TOOL_NOT_FOUND", "TOOL_NOT_FOUND", "TOOL_NOT_FOUND"],
    );
  });

  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    test(`NT-41 '${name}' is an unknown tool like any other`, async () => {
      const agent = agentOf([toolCall(name), text("went on")], { tools: [toolOf("search")] });
      assert.equal((await run(agent, "go")).text, "went on");
      assert.match(lastOutputs(agent)[0].value, /^tool not found: /);
    });
  }

  test("D-21 deferred tools are callable and not listed, hidden ones neither", async () => {
    const tools = [
      toolOf("listed"),
      toolOf("later", () => "ran", { exposure: "deferred" }),
      toolOf("never", () => "ran", { exposure: "hidden" }),
    ];
    const agent = agentOf([[toolCall("later"), toolCall("never")], text("done")], { tools });
    await run(agent, "go");
    assert.deepEqual(
      agent.model.requests[0].tools.map(({ name }) => name),
      ["listed"],
    );
    assert.deepEqual(
      lastOutputs(agent).map(({ value }) => value.split("\n")[0]),
      ["ran", "tool not found: never"],
    );
  });

  test("BL-063 D-14 a provider that starts its ids anew in each reply: five calls, five ids, every pair kept", async () => {
    const ids = [];
    const tool = toolOf("tool", ({ n }, { callId, idempotencyKey }) => (ids.push([callId, idempotencyKey]), n));
    const agent = agentOf(
      ({ messages }) =>
        messages.length < 11 ? toolCall("tool", { n: messages.length }, { id: "call_0" }) : text("done"),
      { tools: [tool] },
    );
    const { record } = await run(agent, "go");
    assert.equal(new Set(ids.map(([callId]) => callId)).size, 5);
    assert.equal(new Set(ids.map(([, key]) => key)).size, 5);
    for (const message of record.transcript.slice(1, -1)) assert.equal(message.content[0].toolCallId, "call_0");
  });

  test("BL-064 two children at once whose providers use the same ids keep their calls apart", async () => {
    const seen = [];
    const tool = toolOf("tool", ({ who }, { turnId, callId }) => (seen.push({ who, turnId, callId }), who), {
      access: ({ turnId }) => turnId.length > 0,
    });
    const child = agentOf(
      ({ messages }) =>
        messages.length === 1
          ? toolCall("tool", { who: messages[0].content }, { id: "call_0" })
          : text(messages.at(-1).content[0].output.value),
      { id: "child", tools: [tool] },
    );
    const parent = agentOf(
      [[toolCall("run-child", { brief: "A" }), toolCall("run-child", { brief: "B" })], text("done")],
      { id: "parent", tools: [asTool(child)] },
    );
    await run(parent, "go");
    assert.deepEqual(
      lastOutputs(parent).map(({ value }) => value.text),
      ["A", "B"],
    );
    assert.equal(new Set(seen.map(({ turnId }) => turnId)).size, 2);
  });

  test("D-14 ids that are empty, too long, hold a slash or repeat within a reply get one of ours", async () => {
    const ids = [];
    const tool = toolOf("tool", (_input, { callId }) => void ids.push(callId));
    const given = ["", "a/b", "x".repeat(65), "y".repeat(64), "same", "same", "c1_9"];
    const agent = agentOf([given.map((id) => toolCall("tool", {}, { id })), text("done")], { tools: [tool] });
    const { record } = await run(agent, "go");
    assert.deepEqual(ids, ["c1_0", "c1_1", "c1_2", "y".repeat(64), "same", "c1_5", "c1_9"]);
    const calls = record.transcript[1].content.map(({ toolCallId }) => toolCallId);
    const answers = record.transcript[2].content.map(({ toolCallId }) => toolCallId);
    assert.deepEqual(answers, calls);
    assert.equal(new Set(calls).size, calls.length);
    assert.deepEqual([calls[1], calls[2], calls[4]], ["a/b", "x".repeat(65), "same"]);
  });

  test("D-14 a provider that uses our own spelling collides with nothing", async () => {
    const ids = [];
    const tool = toolOf("tool", (_input, { callId }) => void ids.push(callId));
    await run(
      agentOf(
        [
          [
            toolCall("tool", {}, { id: "c1_1" }),
            toolCall("tool", {}, { id: "" }),
            toolCall("tool", {}, { id: "c1_1" }),
          ],
          text("done"),
        ],
        { tools: [tool] },
      ),
      "go",
    );
    assert.equal(new Set(ids).size, 3);
  });

  test("NT-41 calls that the provider ran itself are kept and not run again", async () => {
    const content = [
      { type: "tool-call", toolCallId: "s1", toolName: "web_search", input: '{"q":"x"}', providerExecuted: true },
      { type: "text", text: "found" },
    ];
    const result = await run(agentOf([reply({ content })]), "go");
    assert.deepEqual([result.text, result.outcome.status], ["found", "completed"]);
  });

  test("D-23 the idempotency key tells equal calls apart and is the same while one runs", async () => {
    const keys = [];
    const tool = toolOf("pay", (_input, context) => void keys.push(context.idempotencyKey, context.idempotencyKey));
    await run(
      agentOf([[toolCall("pay", { eur: 5 }), toolCall("pay", { eur: 5 })], text("done")], { tools: [tool] }),
      "go",
    );
    assert.match(keys[0], /^[0-9a-f]{64}$/);
    assert.deepEqual([keys[0] === keys[1], keys[0] === keys[2]], [true, false]);
  });
});
