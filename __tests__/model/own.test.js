import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";

import { callModel, checkModel, describeModelError, modelId } from "../../js/model/call-model.js";
import { callOptions, deepFreeze, question, tools } from "../scenes/loopback-turn.js";

const own = (generate) => ({ id: "own", generate });
const ask = (generate, { stream = false, onDelta, request = { messages: question, tools } } = {}) =>
  callModel(own(generate), request, callOptions({ stream }), onDelta);

const search = { type: "tool-call", toolCallId: "c1", toolName: "search", input: '{"q":"x"}' };
const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

describe("NT-41 replies of our own kind of model", () => {
  const sameText = { content: [{ type: "text", text: "Hi" }], finishReason: "stop", usage: noUsage };
  const sameCall = { content: [search], finishReason: "tool-calls", usage: noUsage };
  const spellings = {
    "content as text": [{ content: "Hi" }, sameText],
    "content as parts": [{ content: [{ type: "text", text: "Hi" }] }, sameText],
    text: [{ text: "Hi" }, sameText],
    "a plain string": ["Hi", sameText],
    "toolCalls with an object": [
      { toolCalls: [{ toolCallId: "c1", toolName: "search", input: { q: "x" } }] },
      sameCall,
    ],
    "toolCalls with JSON text": [
      { toolCalls: [{ toolCallId: "c1", toolName: "search", input: '{"q":"x"}' }] },
      sameCall,
    ],
    "a tool-call part": [{ content: [{ ...search, input: { q: "x" } }] }, sameCall],
    "no content at all": [{ finishReason: "stop" }, { ...sameText, content: [] }],
    "an empty reply": [{ content: "" }, { ...sameText, content: [] }],
    "null content": [{ content: null, text: "Hi" }, sameText],
  };
  for (const [name, [given, expected]] of Object.entries(spellings)) {
    test(`takes ${name}, promised or not`, async () => {
      assert.deepEqual(await ask(() => given), expected);
      assert.deepEqual(await ask(async () => given), expected);
    });
  }

  test("BL-038 takes frozen, null-prototype and other-realm objects", async () => {
    const given = { content: [{ type: "text", text: "Hi" }], finishReason: { unified: "length", raw: "max" } };
    const bare = (value) => Object.assign(Object.create(null), value);
    const expected = { ...sameText, finishReason: "length" };
    assert.deepEqual(await ask(() => deepFreeze(structuredClone(given))), expected);
    assert.deepEqual(await ask(() => bare({ ...given, content: [bare(given.content[0])] })), expected);
    assert.deepEqual(await ask(() => runInNewContext(`(${JSON.stringify(given)})`)), expected);
    assert.deepEqual(await ask(() => runInNewContext(`Promise.resolve(${JSON.stringify(given)})`)), expected);
    const deltas = `(async function* () { yield { type: "text-delta", text: "Hi" }; yield { type: "finish", finishReason: "length" }; })()`;
    assert.deepEqual(await ask(() => runInNewContext(deltas)), expected);
  });

  test("keeps what is missing in a call for the kernel to answer", async () => {
    const { content } = await ask(() => ({ toolCalls: [{ toolName: "search" }, { toolCallId: 7, input: "" }] }));
    assert.deepEqual(content, [
      { type: "tool-call", toolCallId: "", toolName: "search", input: "" },
      { type: "tool-call", toolCallId: "", toolName: "", input: "" },
    ]);
  });

  test("D-25 escapes lone surrogates in arguments and replaces them in text", async () => {
    const { content } = await ask(() => ({
      text: "a\ud800b",
      toolCalls: [
        { toolName: "search", input: '{"q":"\ud83d\ude00 \udc00 \ud800"}' },
        { toolName: "search", input: { q: "\ud800" } },
      ],
    }));
    assert.equal(content[0].text, "a\ufffdb");
    assert.equal(content[1].input, '{"q":"\ud83d\ude00 \\udc00 \\ud800"}');
    assert.equal(content[2].input, '{"q":"\\ud800"}');
  });

  test("counts only what is a count", async () => {
    const usage = {
      inputTokens: "12",
      outputTokens: Number.NaN,
      totalTokens: -1,
      cacheReadTokens: 4.9,
      reasoningTokens: Infinity,
    };
    assert.deepEqual((await ask(() => ({ text: "Hi", usage }))).usage, {
      ...noUsage,
      cacheReadTokens: 4,
      reasoningTokens: Number.MAX_SAFE_INTEGER,
    });
  });

  const wrong = {
    undefined: [() => undefined, /own.*expected a reply.*found undefined/],
    null: [() => null, /found null/],
    "a number": [() => 7, /found number/],
    "an unrelated object": [() => ({ message: "Hi" }), /found an object with message/],
    "content of a wrong kind": [
      () => ({ content: 7 }),
      /expected content to be text or an array of parts, found number/,
    ],
    "a part without a type": [() => ({ content: [{ text: "Hi" }] }), /expected each part of a reply to have a type/],
    "a text part without text": [
      () => ({ content: [{ type: "text" }] }),
      /expected a text part with text, found undefined/,
    ],
    "toolCalls of a wrong kind": [() => ({ toolCalls: {} }), /expected toolCalls to be an array/],
    "arguments that are not JSON": [
      () => ({ toolCalls: [{ toolName: "t", input: { n: 1n } }] }),
      /arguments of its call to 't' are not JSON/,
    ],
  };
  for (const [name, [generate, message]] of Object.entries(wrong)) {
    test(`says what was expected in place of ${name}`, async () => {
      await assert.rejects(ask(generate), (error) => {
        assert.equal(error.code, "MODEL_ERROR");
        assert.match(error.message, message);
        assert.equal(describeModelError(error).retryable, false);
        return true;
      });
    });
  }

  test("BL-042 turns a synchronous throw into a rejection with the error itself", async () => {
    const thrown = new Error("no key");
    await assert.rejects(
      ask(() => {
        throw thrown;
      }),
      (error) => error === thrown,
    );
  });
});

describe("streams of our own kind of model", () => {
  const stream = (...deltas) =>
    async function* () {
      yield* deltas;
    };

  test("are put together in order, deltas told as they come", async () => {
    const deltas = [];
    const generate = stream(
      { type: "reasoning-delta", delta: "Hm" },
      { type: "text-delta", delta: "Hel" },
      { type: "text-delta", text: "lo" },
      { ...search, input: { q: "x" } },
      { type: "text-delta", delta: "Bye" },
      { type: "ping" },
      { type: "finish", finishReason: "tool-calls", usage: { inputTokens: 3, outputTokens: 4 } },
    );
    const reply = await ask(generate, { stream: true, onDelta: (delta) => deltas.push(delta.text) });
    assert.deepEqual(reply, {
      content: [
        { type: "reasoning", text: "Hm" },
        { type: "text", text: "Hello" },
        search,
        { type: "text", text: "Bye" },
      ],
      finishReason: "tool-calls",
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    });
    assert.deepEqual(deltas, ["Hm", "Hel", "lo", "Bye"]);
  });

  test("may be promised, and tell nothing when nobody streams", async () => {
    const deltas = [];
    const generate = async () => stream({ type: "text-delta", delta: "Hi" }, { type: "finish" })();
    const reply = await ask(generate, { onDelta: (delta) => deltas.push(delta) });
    assert.deepEqual(reply.content, [{ type: "text", text: "Hi" }]);
    assert.deepEqual(deltas, []);
  });

  test("D-25 may split a character between two deltas", async () => {
    const deltas = [];
    const generate = stream("a\ud83d", "\ude00b", "\ud800", { type: "finish" });
    const reply = await ask(generate, { stream: true, onDelta: ({ text }) => deltas.push(text) });
    assert.equal(reply.content[0].text, "a\ud83d\ude00b\ufffd");
    assert.deepEqual(deltas, ["a", "\ud83d\ude00b", "\ufffd"]);
  });

  test("a whole reply is told at once to whoever streams", async () => {
    const deltas = [];
    await ask(() => ({ text: "Hello" }), { stream: true, onDelta: (delta) => deltas.push(delta) });
    assert.deepEqual(deltas, [{ type: "text", text: "Hello" }]);
  });

  test("fail with the error that they report, and are left", async () => {
    const thrown = { type: "overloaded_error", message: "Overloaded" };
    let isLeft = false;
    async function* generate() {
      try {
        yield { type: "error", error: thrown };
      } finally {
        isLeft = true;
      }
    }
    await assert.rejects(ask(generate), (error) => error === thrown);
    assert.equal(isLeft, true);
    assert.equal(describeModelError(thrown).retryable, true);
  });

  test("D-8 are cut when they end without a finish", async () => {
    await assert.rejects(ask(stream({ type: "text-delta", delta: "Hi" })), (error) => {
      assert.equal(describeModelError(error).retryable, true);
      return true;
    });
  });

  test("may finish without text, and stay open after their finish", async () => {
    async function* generate() {
      yield { type: "finish", finishReason: "stop" };
      await new Promise(() => {});
    }
    assert.deepEqual(await ask(generate), { content: [], finishReason: "stop", usage: noUsage });
  });

  test("keep the order of blocks that a provider interleaves, and what it attached to them", async () => {
    const generate = stream(
      { type: "text-start", id: "1" },
      { type: "text-start", id: "2", providerMetadata: { p: { n: 1 } } },
      { type: "text-delta", id: "2", delta: "two" },
      { type: "text-delta", id: "1", delta: "one" },
      { type: "text-end", id: "2", providerMetadata: { p: { n: 2 } } },
      { type: "text-end", id: "1" },
      { type: "tool-input-start", id: "c1", toolName: "search" },
      { type: "tool-input-delta", id: "c1", delta: '{"q":' },
      { type: "finish", finishReason: "tool-calls" },
    );
    assert.deepEqual((await ask(generate)).content, [
      { type: "text", text: "one" },
      { type: "text", text: "two", providerOptions: { p: { n: 2 } } },
      { ...search, input: '{"q":' },
    ]);
  });
});

describe("D-33 a request", () => {
  test("can be changed by the model without changing anything of ours", async () => {
    const messages = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
    const given = { messages, tools: [structuredClone(tools[0])], providerOptions: { p: { a: 1 } } };
    const before = structuredClone(given);
    const attempts = [];
    await ask(
      (request) => {
        request.temperature = 2;
        request.providerOptions.p.a = 2;
        request.messages.push({ role: "user", content: "more" });
        request.tools.length = 0;
        try {
          request.messages[0].content[0].text = "changed";
        } catch (error) {
          attempts.push(error.name);
        }
        return { text: "ok" };
      },
      { request: given },
    );
    assert.deepEqual(given, before);
    assert.deepEqual(attempts, ["TypeError"]);
  });

  test("hands the very same frozen message on in every step", async () => {
    const seen = [];
    for (const _ of [1, 2]) {
      await ask((request) => {
        seen.push(request.messages[1]);
        return { text: "ok" };
      });
    }
    assert.equal(seen[0], seen[1]);
  });

  test("comes with a signal that is made only when it is read", async () => {
    let reads = 0;
    const options = {
      stream: false,
      get signal() {
        reads += 1;
        return new AbortController().signal;
      },
    };
    await callModel(
      own(() => ({ text: "ok" })),
      { messages: question, tools },
      options,
    );
    assert.equal(reads, 0);
  });
});

describe("MODEL_INVALID", () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error("no");
      },
    },
  );
  const invalid = {
    undefined: [undefined, /found undefined/],
    null: [null, /found null/],
    "a model's name": ["openai/gpt-5", /openai\("…"\)/],
    "a provider": [Object.assign(() => {}, { specificationVersion: "v3" }), /without doGenerate/],
    "an old specification": [{ specificationVersion: "v1", doGenerate() {}, doStream() {} }, /found specification v1/],
    "no generate": [{ id: "x" }, /without generate/],
    "no id": [{ generate() {} }, /without an id/],
    "what cannot be read": [hostile, /cannot be read/],
  };
  for (const [name, [model, message]] of Object.entries(invalid)) {
    test(`is thrown for ${name}`, () => {
      assert.throws(
        () => checkModel(model, "agent 'a'"),
        (error) => {
          assert.equal(error.code, "MODEL_INVALID");
          assert.match(error.message, /^agent 'a': expected an AI SDK language model/);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  test("is not thrown for an instance of a class", () => {
    class Mine {
      id = "mine";
      generate() {}
    }
    checkModel(new Mine(), "agent 'a'");
    assert.equal(modelId(new Mine()), "mine");
  });
});
