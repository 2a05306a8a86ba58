/** Turns: what one is started with, what it resolves to, and what is kept of it. */

import type { Budget, Limits } from "./limits.js";
import type { Cause, Issue } from "./error.js";
import type { Middleware } from "./middleware.js";
import type { FinishReason, ModelMessage } from "./model.js";
import type { Deliverable, Part, PartOutput, PartValue } from "./part.js";
import type { Json } from "./schema.js";
import type { Decision } from "./security.js";
import type { Identity } from "./access.js";

/** Options of `run` and `stream`. `Contract` is the part that the turn owes. */
export interface RunOptions<Contract extends Part = Part> {
  /** A contract on the root turn, with the same gates as `asTool`'s (D-30). It types `result.deliverable`. */
  readonly deliverable?: Deliverable<Contract>;
  /**
   * Earlier messages of the conversation, put before the input and after the instructions (NT-39a). A transcript begins with the instructions of its
   * own turn: leave its system message out.
   */
  readonly history?: readonly ModelMessage[];
  /** Stops the turn and everything below it when aborted; the signal's reason is the stop's (NT-27). */
  readonly signal?: AbortSignal;
  /** On whose behalf the tree runs (NT-31). */
  readonly identity?: Identity;
  /** A value that every turn and tool of the tree can read; deep-frozen (D-28). */
  readonly ambient?: Json;
  /** What the turn is granted, field by field before the agent's own (D-18). */
  readonly budget?: Budget;
  /** How the turn behaves, field by field before the agent's own; what binds the whole tree binds all turns below it (D-18). */
  readonly limits?: Limits;
  /** Hooks for the whole tree, inside the keel's and outside the agents' (D-16). */
  readonly middleware?: readonly Middleware[];
}

/** Options of `resume` and `resumeStream`. */
export interface ResumeOptions {
  /** What was decided, by the id of what is pending. What nobody decided stays pending; with nothing decided the turn stays suspended. */
  readonly approvals?: Readonly<Record<Pending["id"], Decision>>;
  /** Takes the place of the recorded one; the identity is the recorded one always (D-28). */
  readonly ambient?: Json;
  /** Stops the turn and everything below it when aborted, as the signal of `run` did until the turn was suspended. */
  readonly signal?: AbortSignal;
}

/** Where a turn stands. Discriminated by `status`. */
export type Outcome = FinalOutcome | Suspended;

/** How a turn ended; written once, changed by nothing that arrives later (NT-3). */
export type FinalOutcome = Completed | Failed | Stopped;

/** The turn did what it was asked to; with a contract, a validated deliverable exists (NT-19). */
export interface Completed {
  /** The tag. */
  readonly status: "completed";
}

/** The turn could not do it. */
export interface Failed {
  /** The tag. */
  readonly status: "failed";
  /** Why. */
  readonly cause: Cause;
}

/** Somebody stopped the turn. */
export interface Stopped {
  /** The tag. */
  readonly status: "stopped";
  /** What was given to `stop` or as the signal's reason. */
  readonly reason: unknown;
}

/**
 * The turn stands still: nothing in it or below it can go on without a human. Not an end (D-1): `resume` goes on, `stop` ends it. Time does not count
 * meanwhile, and nothing keeps the process alive (D-5, D-36).
 */
export interface Suspended {
  /** The tag. */
  readonly status: "suspended";
  /** What the tree waits for. */
  readonly pending: readonly Pending[];
}

/** A call that waits for a human (D-31). */
export interface Pending {
  /** Names it in the answer. */
  readonly id: string;
  /** `"approval"`: may it run? `"external"`: what is its result? `approve` is asked about the first kind only. */
  readonly kind: "approval" | "external";
  /** The ids of the turns from the root to the one that issued the call. */
  readonly path: readonly string[];
  /** The turn that issued the call. */
  readonly turnId: string;
  /** The call, unique within its turn. */
  readonly callId: string;
  /** The tool that it calls. */
  readonly toolId: string;
  /** The arguments, as they would be executed. Parse them with the tool's own schema for their type. */
  readonly args: Json;
  /** SHA-256 of tool and arguments, in hexadecimal; the approval holds for nothing else. */
  readonly argsHash: string;
}

/** What a turn resolves to, however it went. `Emits` are the agent's parts, `Contract` the one that it owed. */
export interface TurnResult<Emits extends Part = Part, Contract extends Part = Part> {
  /** The turn, to look it up in the records. */
  readonly turnId: string;
  /** Where the turn stands. */
  readonly outcome: Outcome;
  /** The accepted submit, as the part's schema hands it on. Absent without a contract, or when none was accepted. */
  readonly deliverable?: PartOutput<Contract>;
  /** The text of the last step that produced any (NT-12). */
  readonly text: string;
  /**
   * Present when a limit cut a completed turn short (D-4): `limits.behavior: "stopWithPartial"`, or `onExhausted: "answer"` without a
   * contract; `record.budget.answerStep` tells the second from the first.
   */
  readonly partial?: true;
  /** Present when a completed turn produced neither text nor parts (NT-12). */
  readonly empty?: true;
  /** Why the model stopped in the last step (D-8). */
  readonly finishReason?: FinishReason;
  /** What the turn itself emitted, in order. Discriminated by `part`. */
  readonly parts: readonly PartValue<Emits>[];
  /** What the turn itself used; the tree's is in the record. */
  readonly usage: Usage;
  /** What is kept of the turn, as of now. */
  readonly record: TurnRecord;
  /**
   * The same result, known to be completed: with a contract, `deliverable` is there.
   *
   * @throws KeelError with the cause's code and message, and the {@link Cause} as its `details`, when the turn failed; `STOPPED` with the reason as
   * its `cause` when it was stopped; `APPROVAL_REQUIRED` with what is pending as its `details` when it is suspended
   */
  orThrow(): CompletedResult<Emits, Contract>;
}

/** What {@link TurnResult.orThrow} narrows to. */
export type CompletedResult<Emits extends Part = Part, Contract extends Part = Part> = TurnResult<Emits, Contract> & {
  readonly outcome: Completed;
} & ([Contract] extends [never] ? unknown : { readonly deliverable: PartOutput<Contract> });

/** What model calls used (D-32). */
export interface Usage {
  /** Tokens sent; 0 where no provider said. */
  readonly inputTokens: number;
  /** Tokens received; 0 where no provider said. */
  readonly outputTokens: number;
  /** Both, as the provider counts them. */
  readonly totalTokens: number;
  /** Part of `inputTokens`; absent when no provider said. */
  readonly cacheReadTokens?: number;
  /** Part of `outputTokens`; absent when no provider said. */
  readonly reasoningTokens?: number;
  /** Nudge rounds; not counted as steps (NT-18). */
  readonly nudges: number;
  /** US dollars; only with `createKeel({ price })`. */
  readonly costUsd?: number;
}

/** What is kept of one turn (NT-36). One per turn; a retry has its own (NT-24). */
export interface TurnRecord {
  /** The root's is unique and ordered by time; a child's is `<parent>.<n>`, so that a tree is a prefix (D-14). */
  readonly turnId: string;
  /** The calling turn; absent in the root. */
  readonly parentTurnId?: string;
  /** The turn that started the tree; equals `turnId` in the root. */
  readonly rootTurnId: string;
  /** The call that opened the turn; absent in the root. */
  readonly callId?: string;
  /** The agent that the turn runs. */
  readonly agentId: string;
  /** 1, or more for a retry (NT-24). */
  readonly attempt: number;
  /** Where the turn stands. */
  readonly status: TurnStatus;
  /** Absent until the turn has ended (D-1). */
  readonly outcome?: FinalOutcome;
  /** A limit cut the turn short and it completed with what there was (D-4). */
  readonly partial?: true;
  /** A completed turn produced neither text nor parts (NT-12). */
  readonly empty?: true;
  /** Why the model stopped in the last step. */
  readonly finishReason?: FinishReason;
  /** What it was granted and what it used. */
  readonly budget: BudgetRecord;
  /** What the turn's own model calls used. */
  readonly usage: Usage;
  /** The same for the turn and all below it. */
  readonly treeUsage: Usage;
  /** How the contract went; absent without one (NT-19). */
  readonly submits?: SubmitRecord;
  /** Milliseconds since 1970, on the wall clock (D-5). */
  readonly startedAt: number;
  /** The same; absent until the turn has ended. */
  readonly endedAt?: number;
  /** What the turn was given: the root's input or the brief. */
  readonly input: Json;
  /** The emitted parts with `persist: "content"`, in order. */
  readonly parts: readonly { readonly part: string; readonly value: Json }[];
  /** The messages of the turn. */
  readonly transcript: readonly ModelMessage[];
}

/** `running` and `suspended` are states, the others ends (D-1). */
export type TurnStatus = "running" | "suspended" | "completed" | "failed" | "stopped";

/** What a turn was granted and what it used. */
export interface BudgetRecord {
  /** The budget in force, defaults filled in. */
  readonly granted: Budget;
  /** So far, while the turn runs. */
  readonly used: BudgetUsed;
  /** Whose deadline ended the turn: its own or its caller's (NT-22, D-2). */
  readonly ceiling?: "own" | "caller";
  /** Present when `onExhausted: "answer"` granted a last step (NT-14). */
  readonly answerStep?: true;
}

/** The spent part of a budget (D-32). */
export interface BudgetUsed {
  /** Model calls; nudge rounds are in `usage.nudges`, and the step of `onExhausted: "answer"` is `answerStep`. */
  readonly steps: number;
  /** Calls that the model issued. */
  readonly toolCalls: number;
  /** Calls that tools issued. */
  readonly nestedCalls: number;
  /** Milliseconds of running time (D-5). */
  readonly timeMs: number;
}

/** The submits of a turn with a contract. */
export interface SubmitRecord {
  /** How many the model made. */
  readonly tried: number;
  /** The number of the accepted one, from 1; absent when none was. */
  readonly accepted?: number;
  /** The refused ones; only with `capture.toolIo` (NT-17). */
  readonly rejected?: readonly { readonly payload: Json; readonly issues: readonly Issue[] }[];
}
