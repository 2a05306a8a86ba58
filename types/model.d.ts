/** Models: an AI SDK object as it is, or a small interface of our own. Messages have the AI SDK's shapes (D-32). */

import type { Clock } from "./clock.js";
import type { Json, JsonSchema } from "./schema.js";

/** What an agent accepts as its model; else `MODEL_INVALID`. */
export type LanguageModel = AiSdkModel | Model;

/**
 * A language model of the AI SDK, specification version 2, 3 or 4: `openai("…")`, `anthropic("…")` and every other provider's.
 * Structural, so that neither the SDK nor a particular major of it is needed.
 */
export interface AiSdkModel {
  /** The version of the specification that the object implements. */
  readonly specificationVersion: "v2" | "v3" | "v4";
  /** The provider's name, such as `"openai.responses"`. */
  readonly provider: string;
  /** The provider's name for the model. */
  readonly modelId: string;
  /** One reply at once. `never` admits every version's options. */
  doGenerate(options: never): PromiseLike<object>;
  /** One reply as a stream. */
  doStream(options: never): PromiseLike<{ readonly stream: object }>;
}

/** A model of your own: one function from a request to a reply, whole or in deltas. */
export interface Model {
  /** Named in records, events and `price`. */
  readonly id: string;
  /**
   * Takes one step. Throw to fail it; an error with `isRetryable: true`, `statusCode` 429 or 5xx, or a network error is retried (NT-40).
   * The request is a frozen view or a copy: changing it changes nothing (D-33).
   */
  generate(request: ModelRequest, options: GenerateOptions): PromiseLike<ModelReply> | AsyncIterable<ModelReplyDelta>;
}

/** What a {@link Model} gets beside the request. */
export interface GenerateOptions {
  /** Aborted when the reply is no longer waited for (NT-22, NT-27). */
  readonly signal: AbortSignal;
  /** Whether somebody reads the text as it comes: deltas are welcome, a whole reply will do. */
  readonly stream: boolean;
  /** The clock that budgets run on. */
  readonly clock: Clock;
  /** The turn that asks. */
  readonly turnId?: string;
}

/** Settings of a model call (D-39). They reach the model unchanged. */
export interface ModelOptions {
  /** The longest reply, in tokens. */
  readonly maxOutputTokens?: number;
  /** How freely to sample; the range is the provider's. */
  readonly temperature?: number;
  /** Nucleus sampling, 0 to 1. */
  readonly topP?: number;
  /** Sample from the K likeliest tokens only. */
  readonly topK?: number;
  /** Against what has been said already; the range is the provider's. */
  readonly presencePenalty?: number;
  /** Against what has been said often; the range is the provider's. */
  readonly frequencyPenalty?: number;
  /** Texts that end the reply. */
  readonly stopSequences?: readonly string[];
  /** For repeatable sampling, where the provider supports it. */
  readonly seed?: number;
  /** Which tool the model has to call. A nudge round overrides it (NT-18). */
  readonly toolChoice?: ToolChoice;
  /** Settings of one provider each, by its name. */
  readonly providerOptions?: ProviderOptions;
  /** HTTP headers for the provider. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** `"auto"`: the model decides. `"none"`: no call. `"required"`: some call. `"tool"`: that call. */
export type ToolChoice =
  | { readonly type: "auto" | "none" | "required" }
  | { readonly type: "tool"; readonly toolName: string };

/** Settings or marks of one provider each, by its name; passed through. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** One step, as a model is asked for it. */
export interface ModelRequest extends ModelOptions {
  /**
   * The conversation as it stands at this step; instructions come first, as a system message. Each message is frozen. Beyond
   * 1,024 messages the list only reads like an array, so that a step costs the same however long the conversation is:
   * copy it (`[...messages]`) for `structuredClone` or `postMessage`.
   */
  readonly messages: readonly ModelMessage[];
  /** What may be called in this step. */
  readonly tools: readonly ModelTool[];
}

/** A tool as a model sees it. */
export interface ModelTool {
  /** Always a function: provider tools go into `providerOptions`. */
  readonly type: "function";
  /** The tool's id, or `submit_<part>` (NT-15). */
  readonly name: string;
  /** What it does. */
  readonly description?: string;
  /** The JSON Schema of its arguments. */
  readonly inputSchema: JsonSchema;
}

/** One message of a transcript; what `history` takes and `records.transcript` gives. */
export type ModelMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** Instructions. */
export interface SystemMessage {
  /** Who speaks. */
  readonly role: "system";
  /** The text. */
  readonly content: string;
  /** For the provider, such as a cache mark. */
  readonly providerOptions?: ProviderOptions;
}

/** What the user, a calling agent's brief or a nudge says. */
export interface UserMessage {
  /** Who speaks. */
  readonly role: "user";
  /** Text, or pieces in order. */
  readonly content: string | readonly ContentPart[];
  /** For the provider, such as a cache mark. */
  readonly providerOptions?: ProviderOptions;
}

/** What the model replied. */
export interface AssistantMessage {
  /** Who speaks. */
  readonly role: "assistant";
  /** Text, or pieces in order. */
  readonly content: string | readonly AssistantContent[];
  /** For the provider. */
  readonly providerOptions?: ProviderOptions;
}

/** Answers to the calls of the assistant message before it. */
export interface ToolMessage {
  /** Who speaks. */
  readonly role: "tool";
  /** One answer per call, in request order (NT-29). */
  readonly content: readonly ToolResultContent[];
  /** For the provider. */
  readonly providerOptions?: ProviderOptions;
}

/** A piece of an input. */
export type ContentPart = TextContent | FileContent;

/** A piece of a reply. */
export type AssistantContent = TextContent | ReasoningContent | FileContent | ToolCallContent;

/** Text. */
export interface TextContent {
  /** The kind of piece. */
  readonly type: "text";
  /** The text. */
  readonly text: string;
  /** What the provider attached or wants back. */
  readonly providerOptions?: ProviderOptions;
}

/** The model's reasoning. */
export interface ReasoningContent {
  /** The kind of piece. */
  readonly type: "reasoning";
  /** The reasoning, as far as the provider shows it. */
  readonly text: string;
  /** What the provider attached or wants back, such as a signature. */
  readonly providerOptions?: ProviderOptions;
}

/** A file or an image. */
export interface FileContent {
  /** The kind of piece. */
  readonly type: "file";
  /** Base64 text, or a URL as text or object. Nothing is downloaded: an https URL is the provider's to fetch. */
  readonly data: string | URL;
  /** The IANA media type, such as `"image/png"`. */
  readonly mediaType: string;
  /** For the model to refer to. */
  readonly filename?: string;
  /** What the provider attached or wants back. */
  readonly providerOptions?: ProviderOptions;
}

/** A call that the model issues. */
export interface ToolCallContent {
  /** The kind of piece. */
  readonly type: "tool-call";
  /** The provider's id; where it is unusable, one of ours (D-14). */
  readonly toolCallId: string;
  /** The tool that the model named, whether it exists or not (NT-41). */
  readonly toolName: string;
  /** The arguments; a string where the model's text was no JSON (NT-41). */
  readonly input: unknown;
  /** What the provider attached or wants back. */
  readonly providerOptions?: ProviderOptions;
}

/** The answer to one call. */
export interface ToolResultContent {
  /** The kind of piece. */
  readonly type: "tool-result";
  /** The call that it answers. */
  readonly toolCallId: string;
  /** The tool of that call. */
  readonly toolName: string;
  /** The result; the `error-` kinds say that the call was refused or failed. */
  readonly output:
    | { readonly type: "text" | "error-text"; readonly value: string }
    | { readonly type: "json" | "error-json"; readonly value: Json };
  /** For the provider. */
  readonly providerOptions?: ProviderOptions;
}

/** Why a model stopped. `length` and `content-filter` are passed through, not treated as failures (D-8). */
export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

/**
 * What a {@link Model} replies. Leave out what there is none of, but not everything: an empty reply is allowed, as `{ text: "" }` (NT-41); `{}` is no
 * reply and fails the call.
 */
export interface ModelReply {
  /** Text, or pieces in order. */
  readonly content?: string | readonly AssistantContent[];
  /** Shorthand for one piece of text. */
  readonly text?: string;
  /** Shorthand for calls after the text. */
  readonly toolCalls?: readonly ModelToolCall[];
  /** @default "tool-calls" when there are calls, else "stop" */
  readonly finishReason?: FinishReasonGiven;
  /** What the call used. */
  readonly usage?: ModelUsage;
}

/** A call in a {@link ModelReply}. */
export interface ModelToolCall {
  /** @default an id of ours (D-14) */
  readonly toolCallId?: string;
  /** The tool to call. */
  readonly toolName: string;
  /**
   * The arguments, as a value or as JSON text.
   * @default {}
   */
  readonly input?: unknown;
}

/** A finish reason of our list, a provider's own, or the AI SDK's pair of both. */
export type FinishReasonGiven =
  | FinishReason
  | (string & {})
  | { readonly unified: string; readonly raw?: string | undefined };

/** Tokens of one model call. What is left out counts as 0. */
export interface ModelUsage {
  /** Tokens of the request. */
  readonly inputTokens?: number;
  /** Tokens of the reply. */
  readonly outputTokens?: number;
  /** @default the sum of both */
  readonly totalTokens?: number;
  /** Part of `inputTokens`. */
  readonly cacheReadTokens?: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number;
}

/** A piece of a streamed {@link ModelReply}. Other stream parts of the AI SDK are let through or ignored. */
export type ModelReplyDelta =
  | { readonly type: "text-delta" | "reasoning-delta"; readonly delta: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly text: string }
  | ({ readonly type: "tool-call" } & ModelToolCall)
  | { readonly type: "finish"; readonly finishReason?: FinishReasonGiven; readonly usage?: ModelUsage }
  | { readonly type: "error"; readonly error: unknown };
