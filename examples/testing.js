/** A test of an agent without a provider and without waiting: the model is scripted, time is moved by hand. */

import assert from "node:assert/strict";

import { createKeel, defineAgent, defineTool } from "keel-native";
import { fail, hang, scriptedModel, text, toolCall, virtualClock } from "keel-native/testing";

const weather = defineTool({
  id: "weather",
  access: "public",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => ({ city, sky: "grey" }),
});

// What the model is sent, and that the script was played to its end.
const model = scriptedModel([
  toolCall("weather", { town: "Kiel" }),
  toolCall("weather", { city: "Kiel" }),
  text("Grey."),
]);
const forecaster = defineAgent({ id: "forecaster", model, tools: [weather] });
const keel = createKeel();
const result = await keel.run(forecaster, "How is the weather in Kiel?");
model.assertComplete();
assert.equal(result.text, "Grey.");
assert.equal(model.requests.length, 3);
const [, second] = model.requests;
const answered = second?.messages.findLast(({ role }) => role === "tool");
console.log("the model read:", JSON.stringify(answered?.content).match(/invalid arguments[^"]*/)?.[0]);

// A deadline of a minute passes at once.
const clock = virtualClock();
const timed = createKeel({ clock });
const stuck = defineAgent({ id: "stuck", model: scriptedModel([hang()]), budget: { timeMs: 60_000 } });
const stuckResult = timed.run(stuck, "Hang.");
await clock.advance(60_000);
const { outcome } = await stuckResult;
console.log("after a minute:", outcome.status === "failed" && outcome.cause.code);

// A rate limit is retried within the same step, here after the half minute that the server asked for.
const busy = Object.assign(new Error("slow down"), { statusCode: 429, responseHeaders: { "retry-after": "30" } });
const retried = timed.run(defineAgent({ id: "retried", model: scriptedModel([fail(busy), text("Fine.")]) }), "Go.");
await clock.advance(30_000);
const { text: answer, record } = await retried;
console.log("retried:", answer, `${record.budget.used.steps} step, ${record.budget.used.timeMs / 1000} s`);
