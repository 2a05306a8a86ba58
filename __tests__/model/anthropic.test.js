import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { callModel } from "../../js/model/call-model.js";
import { anthropicModels } from "../scenes/loopback-models.js";
import { json, sse } from "../scenes/loopback-provider.js";
import { anthropic } from "../scenes/loopback-recordings.js";
import { assistantMessage, callOptions, question, toolMessage, tools, withModel } from "../scenes/loopback-turn.js";

for (const entry of anthropicModels) {
  describe(`NT-40 ${entry.name}`, { skip: entry.skip }, () => {
    for (const stream of [false, true]) {
      const how = stream ? "streamed" : "whole";

      test(`gives thinking with its signature, text, parallel calls and usage, ${how}`, () =>
        withModel(entry, async (model, provider) => {
          provider.answer(recorded(stream));
          const deltas = [];
          const reply = await callModel(model, { messages: question, tools }, callOptions({ stream }), (delta) =>
            deltas.push(delta),
          );
          // The newest provider also streams marks of its own.
          const [thinking, text, search, weather] = reply.content.filter(({ type }) => type !== "custom");
          assert.equal(thinking.text, "Two lookups.");
          assert.equal(thinking.providerOptions.anthropic.signature, "EqQBCkYIBRgCKkD");
          assert.equal(text.text, "Looking both up.");
          assert.deepEqual([search.toolCallId, search.toolName, search.input], ["toolu_a1", "search", '{"q":"rust"}']);
          assert.deepEqual(
            [weather.toolCallId, weather.toolName, weather.input],
            ["toolu_b2", "weather", '{"city":"Ulm"}'],
          );
          assert.equal(reply.finishReason, "tool-calls");
          assert.equal(reply.usage.cacheReadTokens, 64);
          assert.equal(reply.usage.outputTokens, 41);
          const expected = ["reasoning: Two ", "reasoning: lookups.", "text: Looking ", "text: both up."];
          assert.deepEqual(
            deltas.map((delta) => `${delta.type}: ${delta.text}`),
            stream ? expected : [],
          );
        }));

      test(`sends the signature, the calls and the results back in the next step, ${how}`, () =>
        withModel(entry, async (model, provider) => {
          provider.answer(recorded(stream), json(anthropic.reply([{ type: "text", text: "Done." }])));
          const request = {
            tools,
            maxOutputTokens: 4000,
            providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } },
          };
          const reply = await callModel(model, { ...request, messages: question }, callOptions({ stream }));
          const outputs = [
            { type: "json", value: { hits: 3 } },
            { type: "error-text", value: "no such city" },
          ];
          const messages = [...question, assistantMessage(reply), toolMessage(reply, outputs)];
          await callModel(model, { ...request, messages }, callOptions());
          const { body } = provider.requests[1];
          assert.deepEqual(body.system, [{ type: "text", text: "Be brief." }]);
          assert.equal(body.thinking.budget_tokens, 2000);
          assert.deepEqual(
            body.messages.map(({ role }) => role),
            ["user", "assistant", "user"],
          );
          assert.deepEqual(body.messages[1].content, [
            { type: "thinking", thinking: "Two lookups.", signature: "EqQBCkYIBRgCKkD" },
            { type: "text", text: "Looking both up." },
            { type: "tool_use", id: "toolu_a1", name: "search", input: { q: "rust" } },
            { type: "tool_use", id: "toolu_b2", name: "weather", input: { city: "Ulm" } },
          ]);
          const [hits, refusal] = body.messages[2].content;
          assert.deepEqual([hits.type, hits.tool_use_id, hits.content], ["tool_result", "toolu_a1", '{"hits":3}']);
          assert.deepEqual(
            [refusal.tool_use_id, refusal.content, refusal.is_error],
            ["toolu_b2", "no such city", true],
          );
        }));
    }

    test("NT-41 sends arguments that were not JSON back as an object, which is all the provider takes", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(anthropic.reply([{ type: "text", text: "ok" }])));
        const call = { type: "tool-call", toolCallId: "toolu_a1", toolName: "search", input: '{"q":' };
        const answer = {
          type: "tool-result",
          toolCallId: "toolu_a1",
          toolName: "search",
          output: { type: "error-text", value: "not JSON" },
        };
        const messages = [...question, { role: "assistant", content: [call] }, { role: "tool", content: [answer] }];
        await callModel(model, { messages, tools }, callOptions());
        assert.deepEqual(provider.requests[0].body.messages[1].content[0].input, {});
      }));

    test("an empty reply leaves no message behind that the provider would refuse", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(anthropic.reply([{ type: "text", text: "ok" }])));
        const messages = [...question, { role: "assistant", content: [] }, { role: "user", content: "Please submit." }];
        await callModel(model, { messages, tools }, callOptions());
        const sent = provider.requests[0].body.messages;
        assert.deepEqual(
          sent.map(({ role, content }) => [role, content.map(({ text }) => text)]),
          [["user", ["Rust and Ulm?", "Please submit."]]],
        );
      }));

    for (const [raw, finishReason] of [
      ["max_tokens", "length"],
      ["refusal", "content-filter"],
    ]) {
      test(`D-8 passes the stop reason ${raw} through, whole and streamed`, () =>
        withModel(entry, async (model, provider) => {
          const blocks = [{ type: "text", text: "Half of a sentence" }];
          provider.answer(json(anthropic.reply(blocks, raw)), sse(anthropic.events(blocks, raw)));
          for (const stream of [false, true]) {
            const reply = await callModel(model, { messages: question, tools }, callOptions({ stream }));
            assert.equal(reply.finishReason, finishReason);
          }
        }));
    }

    test("sends tool choice and files", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(anthropic.reply([{ type: "text", text: "ok" }])));
        const content = [
          { type: "text", text: "What is this?" },
          { type: "file", data: "data:image/png;base64,iVBORw0KGgo=", mediaType: "image/png" },
          { type: "file", data: "https://example.test/cat.png", mediaType: "image/png" },
        ];
        const messages = [{ role: "user", content }];
        await callModel(model, { messages, tools, toolChoice: { type: "tool", toolName: "search" } }, callOptions());
        const { body } = provider.requests[0];
        assert.deepEqual(body.tool_choice, { type: "tool", name: "search" });
        assert.deepEqual(
          body.messages[0].content.slice(1).map(({ source }) => source),
          [
            { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
            { type: "url", url: "https://example.test/cat.png" },
          ],
        );
      }));
  });
}

function recorded(stream) {
  return stream
    ? sse(anthropic.events(anthropic.blocks, "tool_use"))
    : json(anthropic.reply(anthropic.blocks, "tool_use"));
}
