import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { callModel, describeModelError } from "../../js/model/call-model.js";
import { anthropicModels, chatModels, responsesModels } from "../scenes/loopback-models.js";
import { cutJson, json, refuse, sse, stall } from "../scenes/loopback-provider.js";
import { anthropic, chat, responses } from "../scenes/loopback-recordings.js";
import { callOptions, question, tools, withModel } from "../scenes/loopback-turn.js";

const openaiError = (type, message) => ({ error: { message, type, param: null, code: null } });
const anthropicError = (type, message) => ({ type: "error", error: { type, message } });

const families = [
  {
    models: chatModels,
    error: openaiError,
    whole: chat.reply(chat.twoCalls, "tool_calls"),
    events: chat.chunks(chat.twoCallsDeltas, null, null),
    textEvents: 3,
  },
  {
    models: responsesModels,
    error: openaiError,
    whole: responses.reply(responses.items),
    events: responses.events(responses.items),
    // Up to the first delta of the message, after the reasoning.
    textEvents: 12,
  },
  {
    models: anthropicModels,
    error: anthropicError,
    whole: anthropic.reply(anthropic.blocks, "tool_use"),
    events: anthropic.events(anthropic.blocks, "tool_use"),
    textEvents: 9,
  },
];

for (const { models, error, whole, events, textEvents } of families) {
  for (const entry of models) {
    describe(`NT-40 failures of ${entry.name}`, { skip: entry.skip }, () => {
      for (const stream of [false, true]) {
        const how = stream ? "streamed" : "whole";

        test(`a 429 is retryable after what Retry-After says, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            const body = error("rate_limit_error", "Rate limit reached");
            provider.answer(json(body, { status: 429, headers: { "retry-after": "2" } }));
            const thrown = await failureOf(model, stream);
            assert.deepEqual(describeModelError(thrown), {
              name: "AI_APICallError",
              message: "Rate limit reached",
              retryable: true,
              retryAfterMs: 2000,
              statusCode: 429,
            });
          }));

        test(`a 500 is retryable and a 400 is not, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            provider.answer(
              json(error("server_error", "The server had an error"), { status: 500 }),
              json(error("invalid_request_error", "Bad request"), { status: 400 }),
            );
            const [first, second] = [await failureOf(model, stream), await failureOf(model, stream)].map(
              describeModelError,
            );
            assert.deepEqual([first.statusCode, first.retryable], [500, true]);
            assert.deepEqual([second.statusCode, second.retryable, second.message], [400, false, "Bad request"]);
          }));

        test(`a connection that breaks before the answer is retryable, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            provider.answer(refuse());
            assert.equal(describeModelError(await failureOf(model, stream)).retryable, true);
          }));

        test(`NT-27 an abort closes the connection and is not retryable, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            provider.answer(stall(stream ? events.slice(0, textEvents) : []));
            const options = callOptions({ stream });
            const answered = provider.answered();
            const failure = assert.rejects(callModel(model, { messages: question, tools }, options), (thrown) => {
              assert.equal(describeModelError(thrown).retryable, false);
              return true;
            });
            await answered;
            options.controller.abort();
            await failure;
            await provider.disconnected;
          }));
      }

      test("a body that breaks in the middle is retryable", () =>
        withModel(entry, async (model, provider) => {
          provider.answer(cutJson(whole));
          assert.equal(describeModelError(await failureOf(model, false)).retryable, true);
        }));

      test("D-8 a stream that breaks after the first delta is retryable", () =>
        withModel(entry, async (model, provider) => {
          provider.answer(stall(events.slice(0, textEvents)));
          const deltas = [];
          const thrown = await failureOf(model, true, ({ text }) => {
            deltas.push(text);
            provider.cut();
          });
          assert.equal(describeModelError(thrown).retryable, true);
          assert.ok(deltas.length > 0);
        }));

      test("D-8 a stream that ends in good order but too early is a cut", () =>
        withModel(entry, async (model, provider) => {
          provider.answer(sse(events.slice(0, textEvents)));
          const described = describeModelError(await failureOf(model, true));
          assert.equal(described.retryable, true);
          assert.match(described.message, /ended without a finish/);
        }));
    });
  }
}

for (const entry of anthropicModels) {
  test(`NT-40 ${entry.name}: an overload reported within a stream is retryable`, { skip: entry.skip }, () =>
    withModel(entry, async (model, provider) => {
      const events = anthropic.events(anthropic.blocks).slice(0, 9);
      provider.answer(sse([...events, anthropicError("overloaded_error", "Overloaded")]));
      const described = describeModelError(await failureOf(model, true));
      assert.equal(described.retryable, true);
      assert.match(described.message, /Overloaded/);
    }),
  );
}

async function failureOf(model, stream, onDelta) {
  try {
    await callModel(model, { messages: question, tools }, callOptions({ stream }), onDelta);
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: "the call should have failed" });
}
