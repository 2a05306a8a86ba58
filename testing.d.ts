/** `keel-native/testing`: what a test of agents needs in place of a provider, of time, and of a turn. */

import type {
  AssistantContent,
  Clock,
  FinishReasonGiven,
  Model,
  ModelReply,
  ModelReplyDelta,
  ModelRequest,
  ModelUsage,
  ToolContext,
} from "./index.js";

/**
 * A model that answers from a script. One script per model object, consumed in call order over all turns that use it; a
 * retried model call takes the next step. A call beyond the script fails the turn (`MODEL_ERROR`, not retried) and says so.
 *
 * @param script The steps, or one function that is asked for every call.
 * @throws KeelError `OPTION_INVALID`
 */
export function scriptedModel(
  script: readonly ScriptStep[] | ScriptFunction,
  options?: ScriptedModelOptions,
): ScriptedModel;

/** What {@link scriptedModel} returns. */
export interface ScriptedModel extends Model {
  /** What the model was sent, one entry per call in call order: snapshots, which later steps do not change (D-38). */
  readonly requests: readonly ModelRequest[];
  /**
   * Throws an `Error` when steps of the script are left, naming how many were used and the next one. With `perTurn` every
   * turn must have used them all. A function has no end: nothing is checked.
   */
  assertComplete(): void;
}

/** Options of {@link scriptedModel}. */
export interface ScriptedModelOptions {
  /** The model's id. @default "scripted" */
  readonly id?: string;
  /** Whether each turn runs through the script from its beginning, for an agent that several turns share. @default false */
  readonly perTurn?: boolean;
  /** In how many deltas a text is told to whoever streams. @default 1 */
  readonly chunks?: number;
  /** Token counts of each step that gives none. @default { inputTokens: 10, outputTokens: 5, totalTokens: 15 } */
  readonly usage?: ModelUsage;
}

/**
 * What a scripted model answers to one call: a step, a plain text, a reply as a {@link Model} gives it, several texts and
 * calls in one reply, or a function of the request that returns any of these.
 */
export type ScriptStep =
  | TextStep
  | ToolCallStep
  | ReplyStep
  | FailStep
  | HangStep
  | DelayStep
  | CutStep
  | string
  | ModelReply
  | readonly (TextStep | ToolCallStep | AssistantContent)[]
  | ScriptFunction;

/** Decides on a step when the call comes; may also answer a stream of deltas of its own making. */
export type ScriptFunction = (
  request: ModelRequest,
  call: ScriptCall,
) => ScriptStep | AsyncIterable<ModelReplyDelta> | PromiseLike<ScriptStep | AsyncIterable<ModelReplyDelta>>;

/** What a {@link ScriptFunction} is told beside the request. */
export interface ScriptCall {
  /** Which call it is: of the model object, or of the turn for a `perTurn` script and for `scriptedModel(fn)`; from 1. */
  readonly call: number;
  /** The turn that asks; absent when the model is called outside a turn. */
  readonly turnId?: string | undefined;
  /** Whether somebody reads the text as it comes. */
  readonly stream: boolean;
  /** Aborted when the reply is no longer waited for. */
  readonly signal: AbortSignal;
}

/** A reply of plain text. */
export function text(value: string, options?: { readonly usage?: ModelUsage }): TextStep;

/**
 * A reply that calls a tool. Several in an array make one reply with parallel calls.
 *
 * @param args The arguments. A string is sent as the model's own text, so that it can be other than JSON. @default {}
 * @param options.id The provider's call id. @default "call-1", "call-2", … in the order of use
 */
export function toolCall(
  toolName: string,
  args?: unknown,
  options?: { readonly id?: string; readonly usage?: ModelUsage },
): ToolCallStep;

/** A whole reply, for what the other steps do not say: a finish reason, token counts, several kinds of content. */
export function reply(value: ModelReply): ReplyStep;

/** The call fails with this very error; it is retried where a model's own error would be (NT-40), such as with `isRetryable: true`. */
export function fail(error: unknown): FailStep;

/**
 * The call never answers, until its signal is aborted: then it rejects with the signal's reason.
 *
 * @param options.ignoreAbort Never answers, whatever happens. @default false
 */
export function hang(options?: { readonly ignoreAbort?: boolean }): HangStep;

/** Another step, `ms` milliseconds later on the clock of the Keel that asks; the wait ends early when the signal is aborted. */
export function delay(ms: number, step: ScriptStep): DelayStep;

/** The connection breaks after this much text: a retryable failure (D-8). `""` breaks before any. */
export function cut(value: string): CutStep;

/** Made by {@link text}. */
export interface TextStep {
  readonly step: "text";
}
/** Made by {@link toolCall}. */
export interface ToolCallStep {
  readonly step: "tool-call";
}
/** Made by {@link reply}. */
export interface ReplyStep {
  readonly step: "reply";
}
/** Made by {@link fail}. */
export interface FailStep {
  readonly step: "fail";
}
/** Made by {@link hang}. */
export interface HangStep {
  readonly step: "hang";
}
/** Made by {@link delay}. */
export interface DelayStep {
  readonly step: "delay";
}
/** Made by {@link cut}. */
export interface CutStep {
  readonly step: "cut";
}

/**
 * A clock that stands still until the test moves it; give it to `createKeel({ clock })`, and budgets, timeouts and the
 * pauses between retries run on it.
 *
 * @param options.wallNow The wall time at which it starts, in milliseconds since the epoch. @default 2026-01-01T00:00:00Z
 */
export function virtualClock(options?: { readonly wallNow?: number }): VirtualClock;

/** What {@link virtualClock} returns. */
export interface VirtualClock extends Clock {
  /** Milliseconds that have passed on this clock; starts at 0. */
  now(): number;
  /** The wall time, in milliseconds since the epoch; moves with `now()`. */
  wallNow(): number;
  /**
   * Lets `ms` milliseconds pass: settles what is ready (until two rounds of macrotasks bring no input), goes to the next
   * deadline, fires it, and so on. It does not wait for real I/O: what depends on a file, a socket or a real timer may
   * come after it resolves. Calls are performed one after the other.
   *
   * @throws KeelError `OPTION_INVALID`
   */
  advance(ms: number): Promise<void>;
  /** Called by a Keel for each input it takes; a test has no use for it. */
  noteInput(): void;
}

/**
 * A context outside any turn, to call a tool's `execute` by itself. `callTool` rejects with `TOOL_FAILED`, since there is
 * no agent loop to run the call; `emit` and `progress` do nothing.
 *
 * @param overrides Fields that take the place of the defaults.
 */
export function toolContext(overrides?: Partial<ToolContext>): ToolContext;
