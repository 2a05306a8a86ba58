/** Contexts: what callbacks are told about where they run, and what a tool can do there. */

import type { Identity } from "./access.js";
import type { Part } from "./part.js";
import type { Json } from "./schema.js";
import type { Tool, ToolResult } from "./tool.js";

/** Where a callback runs: which turn, for whom. */
export interface TurnContext {
  /** The turn that calls. */
  readonly turnId: string;
  /** The turn that started the tree; equals `turnId` in the root. */
  readonly rootTurnId: string;
  /** The calling turn; absent in the root. */
  readonly parentTurnId?: string;
  /** The agent that the turn runs. */
  readonly agentId: string;
  /** 1, or more where the connection retries (NT-24). */
  readonly attempt: number;
  /** Who the root turn was started for (NT-31). */
  readonly identity?: Identity;
  /** The ambient value of the root turn: deep-frozen, shared by the whole tree (D-28). */
  readonly ambient?: Json;
  /** Aborted when the turn is stopped or out of time, or when this very callback is no longer waited for (NT-22, NT-27). */
  readonly signal: AbortSignal;
}

/** What `execute` gets beside its input. */
export interface ToolContext extends TurnContext {
  /** This call; unique within its turn (NT-41). A nested call's id is `<parent call>/<n>`. */
  readonly callId: string;
  /** The calling call; absent when the model issued the call. */
  readonly parentCallId?: string;
  /** 0 when the model issued the call, 1 for what its tool calls, and so on. */
  readonly level: number;
  /** The same as `signal`, as the AI SDK spells it. */
  readonly abortSignal: AbortSignal;
  /** What the turn has left at the moment of reading. */
  readonly budget: BudgetLeft;
  /** SHA-256 of turn, call, tool and arguments, in hexadecimal; the same again when the call is resumed (D-23). */
  readonly idempotencyKey: string;
  /**
   * Calls another tool of the same agent, by its definition or its id, and resolves with its result, also when that tool reports failure.
   * A nested call passes the gates that a call of the model passes, shares its budget, and has no row in the transcript. Off unless
   * `limits.maxNestedDepth` is above 0. A refusal that the tool lets through is answered to its own caller word for word.
   *
   * @throws KeelError (as a rejection that may be left unhandled) when the call is refused, cut off or threw:
   * `TOOL_FAILED`, `TOOL_NOT_FOUND`, `TOOL_ERROR`, `ACCESS_DENIED`, `VALIDATION`, `LIMIT_EXCEEDED`, `TREE_LIMIT`, `DEPTH`, `LEDGER`, `TIMEOUT`,
   * `CANCELLED`, `VALUE_TOO_DEEP`, `OPTION_INVALID` (D-11 to D-13)
   */
  callTool<Out, Args>(
    tool: Tool<unknown, Out, Args>,
    args: NoInfer<Args>,
    options?: CallOptions,
  ): Promise<ToolResult<Out>>;
  callTool(toolId: string, args: unknown, options?: CallOptions): Promise<ToolResult>;
  /**
   * Emits a part of the agent's `emits`; it appears in the turn's events and result, and in its record with `persist: "content"`.
   *
   * @throws KeelError `PART_NOT_EMITTED`, `PART_INVALID`; `CANCELLED`, `TIMEOUT` or `TOOL_FAILED` once the call is over (D-12)
   */
  emit<In>(part: Part<string, unknown, In>, value: NoInfer<In>): void;
  /** Reports progress as a `tool.progress` event. Fields left out stay as they were. Has no effect in a nested call. */
  progress(update: ProgressUpdate): void;
}

/** What a turn has left. */
export interface BudgetLeft {
  /** Model calls. */
  readonly stepsLeft: number;
  /** Milliseconds until the nearest deadline of the turn or its callers; `undefined` without one (NT-22). */
  readonly timeLeftMs: number | undefined;
  /** Tool calls, the model's and nested ones together. */
  readonly toolCallsLeft: number;
}

/** Options of `callTool`. */
export interface CallOptions {
  /** Drops the call when aborted: its own signal is aborted and the promise rejects with `TOOL_FAILED` (D-12). */
  readonly signal?: AbortSignal;
}

/** A report of {@link ToolContext.progress}. */
export interface ProgressUpdate {
  /** What is going on. */
  readonly message?: string;
  /** Units finished. */
  readonly done?: number;
  /** Units in all. */
  readonly total?: number;
}
