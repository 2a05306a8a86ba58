import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { callModel } from "../../js/model/call-model.js";
import { callOptions, deepFreeze } from "../scenes/loopback-turn.js";

// What the providers take from a prompt is tested through them; these are the shapes that few of them read.

const finished = { content: [{ type: "text", text: "ok" }], finishReason: "stop", usage: {} };

/** Calls a model object of one specification version and gives back what it was handed. */
async function handed(version, messages, settings = {}, calls = 1) {
  const prompts = [];
  const model = {
    specificationVersion: version,
    provider: "test",
    modelId: "test",
    doGenerate: async (options) => {
      prompts.push(options.prompt);
      return finished;
    },
    doStream() {},
  };
  for (let call = 0; call < calls; call += 1)
    await callModel(model, { messages, tools: [], ...settings }, callOptions());
  return calls === 1 ? prompts[0] : prompts;
}

const toolMessage = (output) => [
  { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output }] },
];

describe("prompts", () => {
  test("have files in the form of each version", async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const content = [
      { type: "file", data: bytes, mediaType: "application/pdf", filename: "a.pdf" },
      { type: "image", image: "https://example.test/cat.png" },
      { type: "file", data: "AQID", mediaType: "audio/wav" },
      { type: "image", image: "data:image/png;base64,AQID" },
    ];
    const url = new URL("https://example.test/cat.png");
    const plain = [
      { type: "file", data: bytes, mediaType: "application/pdf", filename: "a.pdf" },
      { type: "file", data: url, mediaType: "image/*" },
      { type: "file", data: "AQID", mediaType: "audio/wav" },
      { type: "file", data: "AQID", mediaType: "image/png" },
    ];
    for (const version of ["v2", "v3"]) {
      assert.deepEqual((await handed(version, [{ role: "user", content }]))[0].content, plain);
    }
    const tagged = plain.map((part) => ({
      ...part,
      data: part.data === url ? { type: "url", url } : { type: "data", data: part.data },
    }));
    assert.deepEqual((await handed("v4", [{ role: "user", content }]))[0].content, tagged);
  });

  test("have results with content in the form of each version, whichever form was given", async () => {
    const given = [
      { type: "media", data: "AQID", mediaType: "image/png" },
      { type: "image-data", data: "AQID", mediaType: "image/png" },
      { type: "file", data: { type: "data", data: "AQID" }, mediaType: "image/png" },
    ];
    const expected = { v2: given[0], v3: given[1], v4: given[2] };
    for (const [version, item] of Object.entries(expected)) {
      const output = { type: "content", value: [{ type: "text", text: "see" }, ...given] };
      const [message] = await handed(version, toolMessage(output));
      assert.deepEqual(message.content[0].output.value, [{ type: "text", text: "see" }, item, item, item]);
    }
  });

  test("have a denial that specification v2 has no word for as an error", async () => {
    const output = { type: "execution-denied", reason: "not today" };
    const [[two], [three]] = [await handed("v2", toolMessage(output)), await handed("v3", toolMessage(output))];
    assert.deepEqual(two.content[0].output, { type: "error-text", value: "not today" });
    assert.deepEqual(three.content[0].output, output);
  });

  test("BL-040 never have an undefined result", async () => {
    const [message] = await handed("v3", toolMessage({ type: "json", value: undefined }));
    assert.deepEqual(message.content[0].output, { type: "json", value: null });
  });

  test("have what the provider's own tools answered as results", async () => {
    const content = [
      { type: "tool-call", toolCallId: "s", toolName: "web", input: {}, providerExecuted: true },
      { type: "tool-result", toolCallId: "s", toolName: "web", result: [1], providerOptions: { p: { a: 1 } } },
      { type: "source", sourceType: "url", id: "1", url: "https://example.test" },
      { type: "text", text: "" },
      { type: "reasoning", text: "", providerOptions: { p: { redacted: "x" } } },
    ];
    const [message] = await handed("v3", [{ role: "assistant", content }]);
    assert.deepEqual(message.content, [
      content[0],
      {
        type: "tool-result",
        toolCallId: "s",
        toolName: "web",
        output: { type: "json", value: [1] },
        providerOptions: { p: { a: 1 } },
      },
      content[4],
    ]);
  });

  test("keep an empty input, and keys that look like a prototype", async () => {
    const input = JSON.parse('{"__proto__":{"a":1}}');
    const messages = [
      { role: "user", content: "" },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "t", input }] },
    ];
    const [user, assistant] = await handed("v3", messages);
    assert.deepEqual(user.content, [{ type: "text", text: "" }]);
    assert.equal(JSON.stringify(assistant.content[0].input), '{"__proto__":{"a":1}}');
  });

  test("D-33 are frozen, and made once for each frozen message", async () => {
    const messages = deepFreeze([{ role: "user", content: "Hi" }]);
    const [first, second] = await handed("v4", messages, {}, 2);
    assert.notEqual(first, second);
    assert.equal(first[0], second[0]);
    assert.ok(Object.isFrozen(first[0].content[0]));
    const loose = [{ role: "user", content: "Hi" }];
    const [before, after] = [await handed("v4", loose), ((loose[0].content = "Ho"), await handed("v4", loose))];
    assert.deepEqual(
      [before, after].map((prompt) => prompt[0].content[0].text),
      ["Hi", "Ho"],
    );
  });

  test("with a part or a role that models do not know are refused", async () => {
    await assert.rejects(handed("v3", [{ role: "user", content: [{ type: "hologram" }] }]), /part of type hologram/);
    await assert.rejects(handed("v3", [{ role: "robot", content: "Hi" }]), /found robot/);
    await assert.rejects(
      handed("v3", [{ role: "user", content: [{ type: "file", data: 7 }] }]),
      /file part: expected bytes/,
    );
  });
});

test("a reply's bytes and metadata survive the way through JSON", async () => {
  const model = {
    specificationVersion: "v2",
    provider: "test",
    modelId: "test",
    doGenerate: async () => ({
      ...finished,
      content: [
        { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]), providerMetadata: { p: { id: 1 } } },
      ],
    }),
    doStream() {},
  };
  const { content } = await callModel(model, { messages: [], tools: [] }, callOptions());
  assert.deepEqual(content, [
    { type: "file", mediaType: "image/png", data: "AQID", providerOptions: { p: { id: 1 } } },
  ]);
});

describe("a transcript that grows", () => {
  const message = (content) => Object.freeze({ role: "user", content });
  const said = (prompt) => prompt.map(({ content }) => content[0].text).join(" ");

  test("is sent whole in each step, also when its middle is replaced or its end is cut", async () => {
    const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(message);
    const steps = [
      [a],
      [a, b],
      [a, b, c],
      [a, b, c, d],
      [a, b, e],
      [a, b, e, c],
      [a, b],
      [b, a],
      [a, { ...c }, d],
      [a, b, { ...e }, d],
    ];
    for (const version of ["v2", "v4"]) {
      for (const step of steps) {
        assert.equal(said(await handed(version, step)), step.map(({ content }) => content).join(" "));
      }
    }
  });

  test("belongs to its turn, although turns share their first messages", async () => {
    const [shared, one, two] = ["shared", "one", "two"].map(message);
    const turns = [
      [shared, one],
      [shared, two],
    ];
    for (let step = 0; step < 3; step += 1) {
      for (const turn of turns) {
        turn.push(message(`${step}`));
        assert.equal(said(await handed("v3", turn)), turn.map(({ content }) => content).join(" "));
      }
    }
  });

  test("leaves empty replies out, wherever they come and go", async () => {
    const empty = deepFreeze({ role: "assistant", content: [] });
    const [a, b] = ["a", "b"].map(message);
    for (const [step, expected] of [
      [[a, empty, b], "a b"],
      [[a, empty, b, empty], "a b"],
      [[a, empty, a], "a a"],
      [[a, empty], "a"],
      [[a, empty, { ...empty }, b], "a b"],
    ]) {
      assert.equal(said(await handed("v3", step)), expected);
    }
  });

  test("may be empty", async () => assert.deepEqual(await handed("v3", []), []));
});
