import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, defineAgent } from "../../js/index.js";
import { virtualClock } from "../../js/testing/index.js";
import { anthropicModels, chatModels, responsesModels } from "../scenes/loopback-models.js";
import { cutJson, json, refuse, sse, stall } from "../scenes/loopback-provider.js";
import { anthropic, chat, responses } from "../scenes/loopback-recordings.js";
import { withModel } from "../scenes/loopback-turn.js";
import { collect, deferred, ofType, toolOf } from "../scenes/small-agents.js";

const openaiError = { error: { message: "Rate limit reached", type: "rate_limit_error", param: null, code: null } };
const anthropicError = { type: "error", error: { type: "rate_limit_error", message: "Rate limit reached" } };

const [, responsesMessage] = responses.items;
const [, anthropicText] = anthropic.blocks;

/** How each family of providers says the same things. */
const families = [
  {
    models: chatModels,
    error: openaiError,
    calls: {
      whole: json(chat.reply(chat.twoCalls, "tool_calls")),
      streamed: sse(chat.chunks(chat.twoCallsDeltas, "tool_calls")),
    },
    words: {
      whole: json(chat.reply({ content: "Looking both up." })),
      streamed: sse(chat.chunks([{ role: "assistant", content: "Looking " }, { content: "both up." }])),
    },
    cutWhole: cutJson(chat.reply({ content: "Looking both up." })),
    firstWords: stall(chat.chunks(chat.twoCallsDeltas, null, null).slice(0, 3)),
  },
  {
    models: responsesModels,
    error: openaiError,
    calls: { whole: json(responses.reply(responses.items)), streamed: sse(responses.events(responses.items)) },
    words: { whole: json(responses.reply([responsesMessage])), streamed: sse(responses.events([responsesMessage])) },
    cutWhole: cutJson(responses.reply([responsesMessage])),
    firstWords: stall(responses.events(responses.items).slice(0, 12)),
  },
  {
    models: anthropicModels,
    error: anthropicError,
    calls: {
      whole: json(anthropic.reply(anthropic.blocks, "tool_use")),
      streamed: sse(anthropic.events(anthropic.blocks, "tool_use")),
    },
    words: { whole: json(anthropic.reply([anthropicText])), streamed: sse(anthropic.events([anthropicText])) },
    cutWhole: cutJson(anthropic.reply([anthropicText])),
    firstWords: stall(anthropic.events(anthropic.blocks, "tool_use").slice(0, 9)),
  },
];

/** A virtual clock that tells when it is asked to wait for a moment: real I/O stands between a test and that. */
function tellingClock() {
  const clock = virtualClock();
  const awaited = new Map();
  const setTimer = (atMs, callback) => {
    awaited.get(atMs)?.resolve();
    awaited.get("any")?.resolve(atMs);
    return clock.setTimer(atMs, callback);
  };
  const armed = (atMs) => {
    awaited.set(atMs, deferred());
    return awaited.get(atMs).promise;
  };
  return { ...clock, setTimer, armed };
}

for (const { models, error, calls, words, cutWhole, firstWords } of families) {
  for (const entry of models) {
    describe(`a turn on ${entry.name}`, { skip: entry.skip }, () => {
      for (const how of ["whole", "streamed"]) {
        const start = (keel, agent, options) =>
          how === "whole"
            ? keel.run(agent, "Rust and Ulm?", options)
            : keel.stream(agent, "Rust and Ulm?", options).result;

        test(`its calls are run and answered, and its words are the result, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            const inputs = [];
            const tools = ["search", "weather"].map((id) => toolOf(id, (input) => (inputs.push(input), { from: id })));
            provider.answer(calls[how], words[how]);
            const result = await start(
              createKeel(),
              defineAgent({ id: "agent", model, tools, instructions: "Be brief." }),
            );
            assert.equal(result.outcome.status, "completed", JSON.stringify(result.outcome));
            assert.equal(result.text, "Looking both up.");
            assert.deepEqual(inputs, [{ q: "rust" }, { city: "Ulm" }]);
            const sent = JSON.stringify(provider.requests[1].body);
            for (const part of [
              "Be brief.",
              "Rust and Ulm?",
              String.raw`{\"from\":\"search\"}`,
              String.raw`{\"from\":\"weather\"}`,
            ])
              assert.ok(sent.includes(part), part);
            assert.ok(result.usage.inputTokens > 0 && result.usage.outputTokens > 0);
          }));

        test(`NT-40 a 429 is retried after Retry-After and not a millisecond earlier, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            const clock = tellingClock();
            const waits = clock.armed(2_000);
            const keel = createKeel({ clock });
            provider.answer(json(error, { status: 429, headers: { "retry-after": "2" } }), words[how]);
            const running = start(keel, defineAgent({ id: "agent", model, budget: { steps: 1 } }));
            await waits;
            await clock.advance(1_999);
            assert.equal(provider.requests.length, 1);
            await clock.advance(1);
            const result = await running;
            assert.deepEqual(
              [result.text, provider.requests.length, result.record.budget.used.steps],
              ["Looking both up.", 2, 1],
            );
          }));

        test(`NT-40 a 500 and a refused connection are retried, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            const clock = tellingClock();
            const keel = createKeel({ clock });
            provider.answer(json(error, { status: 500 }), refuse(), words[how]);
            const running = start(keel, defineAgent({ id: "agent", model }), {
              limits: { streamIdleTimeoutMs: 10_000_000 },
            });
            const state = { over: false };
            void running.then(() => Object.assign(state, { over: true }));
            // Each pass waits for real I/O, in which no virtual time passes.
            while (!state.over) {
              await new Promise((resolve) => setImmediate(resolve));
              await clock.advance(100);
            }
            const result = await running;
            assert.deepEqual([result.text, provider.requests.length], ["Looking both up.", 3]);
            const restarts = ofType(await keel.records.events(result.turnId), "step.restarted");
            assert.deepEqual(
              restarts.map(({ attempt }) => attempt),
              [2, 3],
            );
          }));

        test(`NT-40 a 400 fails the turn with the provider's own error, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            provider.answer(json(error, { status: 400 }));
            const { outcome } = await start(createKeel(), defineAgent({ id: "agent", model }));
            assert.deepEqual(
              [outcome.cause.code, outcome.cause.cause.statusCode, provider.requests.length],
              ["MODEL_ERROR", 400, 1],
            );
          }));

        test(`NT-27 a stop reaches the server, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            provider.answer(stall([]));
            const stop = new AbortController();
            const answered = provider.answered();
            const running = start(createKeel(), defineAgent({ id: "agent", model }), { signal: stop.signal });
            await answered;
            stop.abort("enough");
            assert.deepEqual((await running).outcome, { status: "stopped", reason: "enough" });
            await provider.disconnected;
          }));

        test(`NT-22 so does a deadline, ${how}`, () =>
          withModel(entry, async (model, provider) => {
            const clock = virtualClock();
            provider.answer(stall([]));
            const answered = provider.answered();
            const running = start(createKeel({ clock }), defineAgent({ id: "agent", model, budget: { timeMs: 100 } }));
            await answered;
            await clock.advance(100);
            assert.equal((await running).outcome.cause.code, "BUDGET_TIME");
            await provider.disconnected;
          }));
      }

      test("D-8 a body that breaks off is retried in run()", () =>
        withModel(entry, async (model, provider) => {
          const clock = tellingClock();
          const waits = clock.armed("any");
          provider.answer(cutWhole, words.whole);
          const running = createKeel({ clock }).run(defineAgent({ id: "agent", model }), "go");
          assert.ok((await waits) <= 500);
          await clock.advance(500);
          assert.equal((await running).text, "Looking both up.");
        }));

      test("D-8 a stream that breaks off after the first words fails in stream(), with what was said", () =>
        withModel(entry, async (model, provider) => {
          provider.answer(firstWords);
          const stream = createKeel().stream(defineAgent({ id: "agent", model }), "go");
          const said = [];
          for await (const piece of stream.textStream) {
            said.push(piece);
            provider.cut();
          }
          const { outcome } = await stream.result;
          assert.deepEqual([outcome.cause.code, provider.requests.length], ["MODEL_ERROR", 1]);
          assert.ok("Looking both up.".startsWith(said.join("")) && said.length > 0);
          assert.equal((await collect(stream)).at(-1).type, "turn.failed");
        }));
    });
  }
}
