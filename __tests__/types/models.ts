import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { anthropic as anthropicV2 } from "ai-anthropic-v2";
import { anthropic as anthropicV3 } from "ai-anthropic-v3";
import { createOpenAICompatible as createV2 } from "ai-compatible-v2";
import { createOpenAICompatible as createV3 } from "ai-compatible-v3";
import { openai as openaiV2 } from "ai-openai-v2";
import { openai as openaiV3 } from "ai-openai-v3";
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import { defineAgent } from "keel-native";
import type { LanguageModel, Model, ModelReplyDelta } from "keel-native";

const server = { name: "local", baseURL: "http://127.0.0.1:8080/v1" };

/** Every major of the AI SDK's specification, from real providers. */
export const models: readonly LanguageModel[] = [
  openai("gpt-5"),
  anthropic("claude-sonnet-4-5"),
  createOpenAICompatible(server)("small"),
  openaiV3("gpt-5"),
  anthropicV3("claude-sonnet-4-5"),
  createV3(server)("small"),
  openaiV2("gpt-5"),
  anthropicV2("claude-sonnet-4-5"),
  createV2(server)("small"),
];

export const specifications = (
  v2: LanguageModelV2,
  v3: LanguageModelV3,
  v4: LanguageModelV4,
): readonly LanguageModel[] => [v2, v3, v4];

export const whole: Model = {
  id: "echo",
  async generate({ messages, tools }, { signal }) {
    signal.throwIfAborted();
    const last = messages.at(-1);
    return {
      text: typeof last?.content === "string" ? last.content : "",
      toolCalls: [{ toolName: tools[0]?.name ?? "none", input: { q: 1 } }],
    };
  },
};

export const streamed: Model = {
  id: "deltas",
  async *generate(): AsyncGenerator<ModelReplyDelta> {
    yield { type: "text-delta", delta: "a" };
    yield { type: "tool-call", toolName: "search", input: '{"q":1}' };
    yield { type: "finish", finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

defineAgent({
  id: "a",
  model: streamed,
  modelOptions: { temperature: 0, providerOptions: { openai: { store: false } } },
});
// @ts-expect-error MODEL_INVALID the name of a model is not a model
defineAgent({ id: "a", model: "gpt-5" });
// @ts-expect-error MODEL_INVALID an embedding model is not a language model
defineAgent({ id: "a", model: openai.embedding("text-embedding-3-small") });
// @ts-expect-error MODEL_INVALID an older specification
defineAgent({ id: "a", model: { ...whole, generate: undefined, specificationVersion: "v1" } });
