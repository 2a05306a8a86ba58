import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { callModel } from "../../js/model/call-model.js";
import { responsesModels } from "../scenes/loopback-models.js";
import { json, sse } from "../scenes/loopback-provider.js";
import { responses } from "../scenes/loopback-recordings.js";
import { assistantMessage, callOptions, question, toolMessage, tools, withModel } from "../scenes/loopback-turn.js";

for (const entry of responsesModels) {
  describe(`NT-40 ${entry.name}`, { skip: entry.skip }, () => {
    for (const stream of [false, true]) {
      const how = stream ? "streamed" : "whole";

      test(`gives reasoning, text, parallel calls and usage, ${how}`, () =>
        withModel(entry, async (model, provider) => {
          provider.answer(recorded(stream));
          const deltas = [];
          const reply = await callModel(model, { messages: question, tools }, callOptions({ stream }), (delta) =>
            deltas.push(delta),
          );
          assert.deepEqual(
            reply.content.map(({ type, text, toolCallId, toolName, input }) => [
              type,
              text ?? toolCallId,
              toolName,
              input,
            ]),
            [
              ["reasoning", "Two lookups.", undefined, undefined],
              ["text", "Looking both up.", undefined, undefined],
              ["tool-call", "call_a1", "search", '{"q":"rust"}'],
              ["tool-call", "call_b2", "weather", '{"city":"Ulm"}'],
            ],
          );
          assert.equal(reply.finishReason, "tool-calls");
          assert.deepEqual(reply.usage, {
            inputTokens: 82,
            outputTokens: 41,
            totalTokens: 123,
            cacheReadTokens: 64,
            reasoningTokens: 8,
          });
          const expected = ["reasoning: Two ", "reasoning: lookups.", "text: Looking ", "text: both up."];
          assert.deepEqual(
            deltas.map(({ type, text }) => `${type}: ${text}`),
            stream ? expected : [],
          );
        }));

      test(`sends what the provider attached back to it in the next step, ${how}`, () =>
        withModel(entry, async (model, provider) => {
          provider.answer(recorded(stream), json(responses.reply([])));
          const reply = await callModel(model, { messages: question, tools }, callOptions({ stream }));
          const outputs = [
            { type: "json", value: { hits: 3 } },
            { type: "text", value: "sunny" },
          ];
          const messages = [...question, assistantMessage(reply), toolMessage(reply, outputs)];
          await callModel(model, { messages, tools }, callOptions());
          const { input } = provider.requests[1].body;
          // The server knows these items by the ids that it gave them.
          for (const id of ["rs_68af", "msg_68b0"]) {
            assert.ok(
              input.some((item) => item.id === id),
              `${id} is sent: ${JSON.stringify(input)}`,
            );
          }
          const calls = entry.version === "v2" ? ["fc_68b1", "fc_68b2"] : ["call_a1", "call_b2"];
          for (const id of calls)
            assert.ok(
              input.some((item) => item.id === id || item.call_id === id),
              `${id} is sent`,
            );
          assert.deepEqual(
            input
              .filter((item) => item.type === "function_call_output")
              .map(({ call_id, output }) => [call_id, output]),
            [
              ["call_a1", '{"hits":3}'],
              ["call_b2", "sunny"],
            ],
          );
        }));
    }

    test("sends tool choice, settings and provider options", () =>
      withModel(entry, async (model, provider) => {
        provider.answer(json(responses.reply([])));
        const request = {
          messages: question,
          tools,
          toolChoice: { type: "required" },
          maxOutputTokens: 77,
          providerOptions: { openai: { reasoningEffort: "low", store: false } },
        };
        await callModel(model, request, callOptions());
        const { body } = provider.requests[0];
        assert.equal(body.tool_choice, "required");
        assert.equal(body.max_output_tokens, 77);
        assert.equal(body.reasoning.effort, "low");
        assert.equal(body.store, false);
        assert.deepEqual(
          body.tools.map(({ type, name, parameters }) => [type, name, parameters.type]),
          [
            ["function", "search", "object"],
            ["function", "weather", "object"],
          ],
        );
      }));

    for (const [reason, finishReason] of [
      ["max_output_tokens", "length"],
      ["content_filter", "content-filter"],
    ]) {
      test(`D-8 passes an incomplete response through: ${reason}`, () =>
        withModel(entry, async (model, provider) => {
          provider.answer(
            json(responses.reply([responses.items[1]], { status: "incomplete", incomplete_details: { reason } })),
          );
          const reply = await callModel(model, { messages: question, tools: [] }, callOptions());
          assert.equal(reply.finishReason, finishReason);
        }));
    }
  });
}

function recorded(stream) {
  return stream ? sse(responses.events(responses.items)) : json(responses.reply(responses.items));
}
