/**
 * A model object of an AI SDK provider, as it is. The provider talks HTTP to a stand-in on loopback here; with your own
 * `baseURL`, or with `openai("…")` or `anthropic("…")` in its place, nothing else changes.
 */

import { createServer } from "node:http";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createKeel, defineAgent } from "keel-native";

const standIn = createServer((request, response) => {
  request.resume().on("end", () => {
    const choice = { index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" };
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
    response.writeHead(200, { "content-type": "application/json", connection: "close" });
    response.end(
      JSON.stringify({ id: "1", object: "chat.completion", created: 0, model: "any", choices: [choice], usage }),
    );
  });
});
await new Promise((resolve) => {
  standIn.listen(0, "127.0.0.1", () => resolve(undefined));
});
const { port } = /** @type {import("node:net").AddressInfo} */ (standIn.address());

const provider = createOpenAICompatible({ name: "local", baseURL: `http://127.0.0.1:${port}/v1` });
const greeter = defineAgent({
  id: "greeter",
  model: provider("any"),
  modelOptions: { temperature: 0, maxOutputTokens: 100 },
});

// The keel counts money only when it is told what a model costs.
const keel = createKeel({
  price: ({ inputTokens, outputTokens }) => (inputTokens * 3 + outputTokens * 15) / 1_000_000,
});
const { text, usage } = await keel.run(greeter, "Hi!", { budget: { costUsd: 0.01 } });
console.log(text, `${usage.inputTokens} + ${usage.outputTokens} tokens, ${usage.costUsd} USD`);

standIn.close();
await keel.close();
