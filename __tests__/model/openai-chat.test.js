import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { callModel, checkModel, modelId } from "../../js/model/call-model.js";
import { chatModels } from "../scenes/loopback-models.js";
import { json, sse } from "../scenes/loopback-provider.js";
import { chat } from "../scenes/loopback-recordings.js";
import { assistantMessage, callOptions, question, toolMessage, tools, withModel } from "../scenes/loopback-turn.js";

const twoCalls = {
  content: [
    { type: "text", text: "Looking both up." },
    { type: "tool-call", toolCallId: "call_a1", toolName: "search", input: '{"q":"rust"}' },
    { type: "tool-call", toolCallId: "call_b2", toolName: "weather", input: '{"city":"Ulm"}' },
  ],
  finishReason: "tool-calls",
  usage: { inputTokens: 82, outputTokens: 41, totalTokens: 123, cacheReadTokens: 64, reasoningTokens: 8 },
};

for (const entry of chatModels) {
  describe(`NT-40 ${entry.name}`, { skip: entry.skip }, () => {
    test("is a model as it is, with the provider's name for it", () =>
      withModel(entry, async (model) => {
        checkModel(model, "agent 'a'");
        assert.equal(modelId(model), model.modelId);
      }));

    test("gives text, parallel calls, finish reason and usage of a whole reply", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(chat.reply(chat.twoCalls, "tool_calls")));
        assert.deepEqual(await callModel(model, { messages: question, tools }, callOptions()), twoCalls);
      }));

    test("gives the same of a stream, with its deltas in order", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(sse(chat.chunks(chat.twoCallsDeltas, "tool_calls")));
        const deltas = [];
        const options = callOptions({ stream: true });
        const reply = await callModel(model, { messages: question, tools }, options, (delta) => deltas.push(delta));
        assert.deepEqual(reply, twoCalls);
        assert.deepEqual(deltas, [
          { type: "text", text: "Looking " },
          { type: "text", text: "both up." },
        ]);
        assert.equal(provider.requests[0].body.stream, true);
      }));

    test("sends the reply and its results back in the next step", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(chat.reply(chat.twoCalls, "tool_calls")), json(chat.reply({ content: "Done." })));
        const reply = await callModel(model, { messages: question, tools }, callOptions());
        const outputs = [
          { type: "json", value: { hits: 3 } },
          { type: "error-text", value: "no such city" },
        ];
        const messages = [...question, assistantMessage(reply), toolMessage(reply, outputs)];
        const last = await callModel(model, { messages, tools }, callOptions());
        assert.deepEqual(last.content, [{ type: "text", text: "Done." }]);
        assert.equal(last.finishReason, "stop");
        const sent = provider.requests[1].body.messages;
        assert.deepEqual(sent.slice(0, 2), [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Rust and Ulm?" },
        ]);
        assert.equal(sent[2].content, "Looking both up.");
        assert.deepEqual(
          sent[2].tool_calls.map(({ id, function: called }) => [id, called.name, called.arguments]),
          [
            ["call_a1", "search", '{"q":"rust"}'],
            ["call_b2", "weather", '{"city":"Ulm"}'],
          ],
        );
        assert.deepEqual(sent[3], { role: "tool", tool_call_id: "call_a1", content: '{"hits":3}' });
        assert.equal(sent[4].tool_call_id, "call_b2");
        assert.match(sent[4].content, /no such city/);
        assert.equal(sent.length, 5);
      }));

    test("sends tools, tool choice, settings, headers and provider options", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(chat.reply({ content: "" })));
        const request = {
          messages: question,
          tools,
          toolChoice: { type: "tool", toolName: "search" },
          temperature: 0,
          maxOutputTokens: 77,
          stopSequences: ["END"],
          headers: { "x-team": "research" },
          providerOptions: { openai: { user: "u-7" }, loopback: { user: "u-7" } },
        };
        await callModel(model, request, callOptions());
        const { body, headers } = provider.requests[0];
        assert.deepEqual(body.tools[0].function.parameters, tools[0].inputSchema);
        assert.equal(body.tools[0].function.description, "Searches");
        assert.deepEqual(body.tool_choice, { type: "function", function: { name: "search" } });
        assert.equal(body.temperature, 0);
        assert.equal(body.max_tokens, 77);
        assert.deepEqual(body.stop, ["END"]);
        assert.equal(body.user, "u-7");
        assert.equal(headers["x-team"], "research");
      }));

    for (const [choice, sent] of [["auto"], ["none"], ["required"]].map(([type]) => [{ type }, type])) {
      test(`sends the tool choice ${sent}`, () =>
        withModel(entry, async (model, provider) => {
          provider.answer(json(chat.reply({ content: "ok" })));
          await callModel(model, { messages: question, tools, toolChoice: choice }, callOptions());
          assert.equal(provider.requests[0].body.tool_choice, sent);
        }));
    }

    test("sends neither tools nor a tool choice when there is no tool", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(chat.reply({ content: "ok" })));
        await callModel(model, { messages: question, tools: [], toolChoice: { type: "required" } }, callOptions());
        assert.equal("tools" in provider.requests[0].body, false);
        assert.equal("tool_choice" in provider.requests[0].body, false);
      }));

    for (const [raw, finishReason] of [
      ["length", "length"],
      ["content_filter", "content-filter"],
      ["of_its_own", "other"],
    ]) {
      test(`D-8 passes the finish reason ${raw} through, whole and streamed`, () =>
        withModel(entry, async (model, provider) => {
          provider.answer(json(chat.reply({ content: "Half" }, raw)), sse(chat.chunks([{ content: "Half" }], raw)));
          for (const stream of [false, true]) {
            const reply = await callModel(model, { messages: question, tools }, callOptions({ stream }));
            assert.equal(reply.finishReason, finishReason);
            assert.deepEqual(reply.content, [{ type: "text", text: "Half" }]);
          }
        }));
    }

    test("NT-41 hands on arguments that are not JSON, and sends them back as an empty object or as they were", () =>
      withModel(entry, async (model, provider) => {
        const call = { id: "call_a1", type: "function", function: { name: "search", arguments: '{"q":' } };
        provider.answer(
          json(chat.reply({ content: null, tool_calls: [call] }, "tool_calls")),
          sse(chat.chunks([{ tool_calls: [{ index: 0, ...call }] }], "tool_calls")),
          json(chat.reply({ content: "ok" })),
        );
        for (const stream of [false, true]) {
          const reply = await callModel(model, { messages: question, tools }, callOptions({ stream }));
          assert.deepEqual(reply.content, [
            { type: "tool-call", toolCallId: "call_a1", toolName: "search", input: '{"q":' },
          ]);
        }
        const broken = { type: "tool-call", toolCallId: "call_a1", toolName: "search", input: '{"q":' };
        const answer = {
          type: "tool-result",
          toolCallId: "call_a1",
          toolName: "search",
          output: { type: "error-text", value: "not JSON" },
        };
        const messages = [...question, { role: "assistant", content: [broken] }, { role: "tool", content: [answer] }];
        await callModel(model, { messages, tools }, callOptions());
        assert.equal(provider.requests[2].body.messages[2].tool_calls[0].function.arguments, "{}");
      }));

    test("NT-41 takes an empty reply", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(chat.reply({ content: "" })), sse(chat.chunks([{ role: "assistant", content: "" }])));
        for (const stream of [false, true]) {
          const reply = await callModel(model, { messages: question, tools }, callOptions({ stream }));
          assert.deepEqual(reply.content, []);
          assert.equal(reply.finishReason, "stop");
        }
      }));
  });
}

for (const entry of chatModels.filter(({ name }) => name.startsWith("openai-compatible"))) {
  test(`${entry.name} gives reasoning, whole and in deltas`, { skip: entry.skip }, () =>
    withModel(entry, async (model, provider) => {
      provider.answer(
        json(chat.reply({ reasoning_content: "Think first.", content: "Yes." })),
        sse(chat.chunks([{ reasoning_content: "Think " }, { reasoning_content: "first." }, { content: "Yes." }])),
      );
      const deltas = [];
      for (const stream of [false, true]) {
        const onDelta = (delta) => deltas.push(delta);
        const reply = await callModel(model, { messages: question, tools: [] }, callOptions({ stream }), onDelta);
        const [reasoning, text] = ["reasoning", "text"].map((type) => reply.content.find((part) => part.type === type));
        assert.equal(reasoning.text, "Think first.");
        assert.equal(text.text, "Yes.");
      }
      assert.deepEqual(deltas, [
        { type: "reasoning", text: "Think " },
        { type: "reasoning", text: "first." },
        { type: "text", text: "Yes." },
      ]);
    }),
  );
}
