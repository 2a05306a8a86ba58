import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { native } from "../../js/binding/native.js";

/** One agent whose model may call one tool, as the host describes it. */
function program() {
  const agent = {
    id: "agent",
    instructions: null,
    prepares: false,
    tools: [
      {
        id: "tool",
        schema: 0,
        prepares: false,
        access: { type: "public" },
        exposure: "direct",
        concurrency: "unset",
        timeoutMs: null,
        maxUses: null,
        exposeErrors: null,
        delegation: null,
        external: false,
        approvalRequired: false,
        replaySafe: false,
        injects: [],
      },
    ],
    emits: [],
    reads: [],
    grants: [],
    budget: {},
    limits: {},
    hooks: {},
  };
  return new native.Program(JSON.stringify([agent]), [new native.Schema('{"type":"object"}')]);
}

/** A kernel that is played by hand. */
function handPlayed() {
  const kernel = native.openKernel("{}");
  const definitions = program();
  const read = (text) => (text === null ? [] : JSON.parse(text));
  return {
    start: (turnId) =>
      read(
        native.start(
          kernel,
          definitions,
          JSON.stringify({
            turnId,
            wallOffsetMs: 0,
            messages: [{ role: "user", content: "go" }],
            input: "go",
            budget: {},
            limits: {},
            hooks: {},
            contract: null,
            authenticated: false,
            scopes: [],
            stream: false,
            stopped: null,
          }),
          0,
        ),
      ),
    answer: (id, body) => read(native.answer(kernel, id, typeof body === "string" ? body : JSON.stringify(body), 0)),
    input: (text) => native.input(kernel, text, 0),
    record: (turnId) => JSON.parse(native.query(kernel, JSON.stringify({ type: "record", body: { turnId } }), 0)),
  };
}

const said = {
  ok: {
    content: [{ type: "text", text: "fine" }],
    finishReason: "stop",
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  },
};
const asked = { ok: { ...said.ok, content: [{ type: "tool-call", toolCallId: "1", toolName: "tool", input: "{}" }] } };
const of = (commands, name) => {
  const [, ...fields] = commands.find((command) => command[0] === name);
  return name === "settled" ? { result: fields[2] } : { id: fields[0] };
};

describe("BL-097 D-34 an answer that breaks the protocol", () => {
  for (const broken of ["", "null", "{", "[]", '{"ok":5}', '{"ok":{"content":5}}', '{"error":{}}', '{"surprise":1}']) {
    test(`BL-097 ${JSON.stringify(broken)} from a model ends that turn INTERNAL, and no other`, () => {
      const kernel = handPlayed();
      const first = of(kernel.start("a"), "model");
      const second = of(kernel.start("b"), "model");
      const { result } = of(kernel.answer(first.id, broken), "settled");
      assert.equal(result.outcome.status, "failed");
      assert.equal(result.outcome.cause.code, "INTERNAL");
      assert.equal(kernel.record("a").record.status, "failed");
      assert.equal(kernel.record("b").record.status, "running");
      assert.equal(of(kernel.answer(second.id, said), "settled").result.text, "fine");
      assert.equal(
        of(kernel.answer(of(kernel.start("c"), "model").id, said), "settled").result.outcome.status,
        "completed",
      );
    });
  }

  test("BL-097 from a tool too, with the call's one end", () => {
    const kernel = handPlayed();
    const call = of(kernel.answer(of(kernel.start("a"), "model").id, asked), "call");
    const { result } = of(kernel.answer(call.id, '{"result":'), "settled");
    assert.equal(result.outcome.cause.code, "INTERNAL");
    assert.equal(of(kernel.answer(of(kernel.start("b"), "model").id, said), "settled").result.text, "fine");
  });

  test("answers that nobody waits for are ignored: late, twice, never asked", () => {
    const kernel = handPlayed();
    const { id } = of(kernel.start("a"), "model");
    kernel.answer(id, said);
    for (const stray of [id, id + 1, 4_000_000_000]) assert.deepEqual(kernel.answer(stray, said), []);
    assert.equal(kernel.record("a").record.status, "completed");
  });

  test("inputs that are not of the protocol throw and change nothing", () => {
    const kernel = handPlayed();
    const { id } = of(kernel.start("a"), "model");
    for (const text of ["", "{", '{"type":"unknown"}', '{"type":"stop"}', '{"type":"stop","body":{}}'])
      assert.throws(() => kernel.input(text), Error);
    for (const text of [
      '{"type":"tick"}',
      '{"type":"emit","body":{"id":99,"part":0,"value":1}}',
      '{"type":"stop","body":{"turnId":"nobody","subtree":false,"reason":null}}',
    ])
      kernel.input(text);
    assert.equal(of(kernel.answer(id, said), "settled").result.text, "fine");
  });

  test("definitions that are not of the protocol throw", () => {
    for (const text of ["", "{}", '[{"id":5}]']) assert.throws(() => new native.Program(text, []), Error);
    assert.throws(() => native.openKernel('{"keepTrees":"all"}'), Error);
  });
});
