/** Events: what a turn tells while it runs. */

import type { Cause, ErrorCode, Issue } from "./error.js";
import type { AssistantContent, FinishReason } from "./model.js";
import type { Json } from "./schema.js";
import type { Pending, Usage } from "./turn.js";

/**
 * One event; a union discriminated by `type`. Every `turn.started` and every `tool.started` has exactly one terminal event.
 * Captured payloads are there only with `capture`: `input`, `output` and those of `nested_calls` with `toolIo`, `reply` with `modelIo`; all of them, and the
 * `args` of what is pending, after `redact` (D-24).
 */
export type KeelEvent = { [Type in keyof KeelEventFields]: EventOf<Type> }[keyof KeelEventFields];

/** The event of one type, or of several. */
export type EventOf<Type extends keyof KeelEventFields> = EventBase<Type> & KeelEventFields[Type];

/** What every event carries. */
export interface EventBase<Type extends string = string> {
  /** What happened. */
  readonly type: Type;
  /** Counts up within a tree. */
  readonly seq: number;
  /** Milliseconds since 1970, on the wall clock (D-5). */
  readonly at: number;
  /** The turn that the event belongs to. */
  readonly turnId: string;
  /** Its calling turn; absent in the root. */
  readonly parentTurnId?: string;
  /** The turn that started the tree. */
  readonly rootTurnId: string;
  /** The agent that the turn runs. */
  readonly agentId: string;
}

/** What each type of event carries beside {@link EventBase}. */
export interface KeelEventFields {
  /** A turn began. */
  "turn.started": {
    /** 1, or more for a retry (NT-24). */
    readonly attempt: number;
    /** The call that opened the turn; absent in the root. */
    readonly callId?: string;
  };
  /** A model call began. */
  "step.started": StepFields;
  /** The model said something. */
  "text.delta": StepFields & {
    /** The piece of text; append it to the ones before. */
    readonly text: string;
    /** `"reasoning"` is not part of the answer. */
    readonly kind: "text" | "reasoning";
  };
  /** A model call ended with a reply. */
  "step.completed": {
    /** From 1 within the turn; nudge rounds count on. */
    readonly step: number;
    /** Why the model stopped (D-8). */
    readonly finishReason: FinishReason;
    /** What this step used. */
    readonly usage: Usage;
    /** How many calls the reply holds. */
    readonly toolCalls: number;
    /** What the model replied; only with `capture.modelIo`. The `input` of a call is JSON text here. */
    readonly reply?: readonly AssistantContent[];
  };
  /** A model call failed and is made again; deltas of the attempt before are void (D-8, NT-40). */
  "step.restarted": StepFields & {
    /** What the model or the network said. */
    readonly reason: EventError;
  };
  /** A call was admitted and begins. Refused calls have none (D-13). */
  "tool.started": CallFields & {
    /** The arguments, as they were sent. */
    readonly input?: Json;
  };
  /** A tool reported progress, or a connection forwards its child's (NT-34). */
  "tool.progress": CallFields & {
    /** What the tool said. */
    readonly message?: string;
    /** Units finished. */
    readonly done?: number;
    /** Units in all. */
    readonly total?: number;
    /** The child turn that it comes from. */
    readonly forwardedFrom?: string;
  };
  /** A call ended with a result. Terminal. */
  "tool.completed": CallFields & {
    /** Whether the tool reported its own failure. */
    readonly isError: boolean;
    /** Milliseconds from `tool.started`, on the clock of the budgets. */
    readonly durationMs: number;
    /** UTF-8 bytes of the result's text. */
    readonly outputBytes: number;
    /** The result. */
    readonly output?: Json;
    /** What the tool told the host. A tool that called others has {@link NestedCallsMetadata} in it, unless its own metadata is no object. */
    readonly metadata?: Json;
    /** What the tool reported, when `isError`. */
    readonly error?: string;
  };
  /** A call was cut off or threw. Terminal. */
  "tool.failed": CallFields & {
    /** Milliseconds from `tool.started`, on the clock of the budgets. */
    readonly durationMs: number;
    /** Why. */
    readonly error: EventError;
  };
  /** A call was not admitted; unpaired (D-13). */
  "tool.refused": CallFields & {
    /** Why. */
    readonly error: EventError;
  };
  /** A part was emitted, or a connection forwards its child's (NT-34). */
  "part.emitted": {
    /** The part's name. */
    readonly part: string;
    /** What was emitted, as its schema hands it on. */
    readonly value: Json;
    /** The call whose tool emitted it. */
    readonly callId?: string;
    /** The child turn that it comes from; such a part is not the turn's own. */
    readonly forwardedFrom?: string;
  };
  /** The model was reminded of the part it owes (NT-18). */
  "nudge.sent": {
    /** Which round, from 1. */
    readonly nudge: number;
    /** The owed part's name. */
    readonly part: string;
    /** What was wrong with the last submit, if there was one. */
    readonly issues?: readonly Issue[];
  };
  /** A limit bit; once per turn and limit (D-13). */
  "limit.reached": {
    /** Which one; `tree` for any of `limits.tree`. */
    readonly limit: "steps" | "toolCalls" | "timeMs" | "tokens" | "costUsd" | "tree";
    /** Its value. */
    readonly max: number;
  };
  /** A call needs a human (D-31). Told before `approve` is asked. */
  "approval.requested": {
    /** What is waited for. */
    readonly pending: Pending;
  };
  /** A child failed and a fresh one follows (NT-24). Told by the caller. */
  "turn.retried": {
    /** The number of the attempt that follows. */
    readonly attempt: number;
    /** The call that opened both. */
    readonly callId: string;
    /** Why it failed. */
    readonly cause: Cause;
    /** The turn of the attempt that failed. */
    readonly failedTurnId: string;
  };
  /** Nothing in the turn or below it can go on without a human. Not terminal (D-1, D-5). */
  "turn.suspended": {
    /** What is waited for. */
    readonly pending: readonly Pending[];
  };
  /** A suspended turn goes on. */
  "turn.resumed": Record<never, never>;
  /** The turn completed. Terminal. */
  "turn.completed": {
    /** A limit cut it short (D-4). */
    readonly partial?: true;
    /** It produced neither text nor parts (NT-12). */
    readonly empty?: true;
  };
  /** The turn failed. Terminal. */
  "turn.failed": {
    /** Why it failed. */
    readonly cause: Cause;
  };
  /** The turn was stopped. Terminal. */
  "turn.stopped": {
    /** What was given to the stop. */
    readonly reason: unknown;
  };
}

/** Which model call. */
export interface StepFields {
  /** From 1 within the turn; nudge rounds count on. */
  readonly step: number;
  /** From 1 within the step; more after a retried model error (NT-40). */
  readonly attempt: number;
}

/** Which call. */
export interface CallFields {
  /** Unique within the turn (D-14). */
  readonly callId: string;
  /** The id of the called tool. */
  readonly toolId: string;
  /** The calling call; present only for nested calls. */
  readonly parentCallId?: string;
}

/** In the metadata of a call whose tool called others. The keys keep this spelling (D-13). */
export type NestedCallsMetadata = {
  /** The first 32 calls, in the order in which they ended. */
  readonly nested_calls: readonly NestedCallSummary[];
  /** How many more there were; absent when there were none. */
  readonly nested_calls_truncated?: number;
};

/** What is told of one nested call. */
export type NestedCallSummary = {
  /** The call, `<parent call>/<n>`. Every request is numbered, refused ones too. */
  readonly id: string;
  /** The tool that was asked for, whether it exists or not. */
  readonly name: string;
  /** `error`: the tool reported failure. `failed`: the call was refused, or the tool threw. `abandoned`: its caller no longer waited. */
  readonly status: "ok" | "error" | "failed" | "abandoned";
  /** Milliseconds, on the clock of the budgets. */
  readonly duration_ms: number;
  /** The arguments as they were sent, as JSON text cut at 1 KiB; only with `capture.toolIo`. */
  readonly args?: string;
  /** Why, cut at 256 bytes; only with `capture.toolIo`, except for `abandoned`. */
  readonly error?: string;
};

/** What went wrong with a call. Never holds what a tool threw, unless `exposeErrors` (D-11). */
export interface EventError {
  /** Of the table, or one that a middleware or tool chose. */
  readonly code: ErrorCode | (string & {});
  /** What the model reads. */
  readonly message: string;
}
