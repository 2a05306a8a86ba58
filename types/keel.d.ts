/// <reference lib="esnext.disposable" />
/** Keels: what turns run on, and where their records are. */

import type { Agent } from "./agent.js";
import type { Limits } from "./limits.js";
import type { Clock } from "./clock.js";
import type { KeelEvent } from "./event.js";
import type { Ledger } from "./ledger.js";
import type { Middleware } from "./middleware.js";
import type { ContentPart, ModelMessage } from "./model.js";
import type { Part } from "./part.js";
import type { Awaitable, Json } from "./schema.js";
import type { Approval, Injected, Security, Workspace } from "./security.js";
import type { TurnStream } from "./stream.js";
import type { Pending, ResumeOptions, RunOptions, TurnRecord, TurnResult, TurnStatus, Usage } from "./turn.js";

/**
 * Runs an agent on a default keel, in memory. Never rejects for what happens inside the turn: that is `result.outcome`.
 *
 * @throws KeelError (as a rejection) for misuse: the definition codes of `asTool`'s contract, `GRANT_MISSING`, `BUDGET_INVALID`, `LIMIT_INVALID`,
 * `NESTED_UNGUARDED` of any agent that can be reached, …
 */
export function run<Emits extends Part, Contract extends Emits = never>(
  agent: Agent<Emits>,
  input: TurnInput,
  options?: RunOptions<Contract>,
): Promise<TurnResult<Emits, Contract>>;

/**
 * Runs an agent on a default keel and tells what happens as it happens.
 *
 * @throws KeelError at once for misuse, as `run` rejects with it.
 */
export function stream<Emits extends Part, Contract extends Emits = never>(
  agent: Agent<Emits>,
  input: TurnInput,
  options?: RunOptions<Contract>,
): TurnStream<Emits, Contract>;

/** What a root turn is asked: text, or text and files in the AI SDK's shape. */
export type TurnInput = string | readonly ContentPart[];

/**
 * Makes a keel: a place to run turns with common settings and one store of records.
 *
 * @throws KeelError `STORE_UNSUPPORTED`, `BINARY_MISSING`, `LIMIT_INVALID`, `NESTED_UNGUARDED`, `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function createKeel(options?: KeelOptions): Keel;

/** Options of {@link createKeel}. */
export interface KeelOptions {
  /**
   * Where records are kept. `":memory:"` keeps the last `keep.trees` finished trees (D-40). A store that this build lacks is `STORE_UNSUPPORTED`.
   * @default ":memory:"
   */
  readonly records?: string;
  /** Agents to be found by id in a durable store; those that are run are known anyway. */
  readonly agents?: readonly Agent[];
  /**
   * `"strict"` waits for the disk before every answer, `"relaxed"` only where an effect must not happen twice. No difference in memory.
   * @default "relaxed"
   */
  readonly durability?: "relaxed" | "strict";
  /** Hooks for every turn, outermost (D-16). */
  readonly middleware?: readonly Middleware[];
  /** The host's own gate for tools. */
  readonly security?: Security;
  /**
   * Asked about each call that needs a human: of a tool with `approval: "required"`, or where `beforeTool` said `"defer"`. It may take any time, which
   * counts. Absent: as if it answered `"defer"` (D-31).
   */
  readonly approve?: (pending: Pending) => Awaitable<Approval>;
  /** Where calls are written down before and after they run. */
  readonly ledger?: Ledger;
  /** Supplies what tools declare as `injects`. */
  readonly injected?: Injected;
  /** Where tools work; hooks see it. */
  readonly workspace?: Workspace;
  /** How much is kept in memory. */
  readonly keep?: {
    /**
     * Finished trees.
     * @default 1000
     */
    readonly trees?: number;
  };
  /** Which payloads events and records show. The transcript is always complete (D-24). */
  readonly capture?: Capture;
  /** US dollars of one model call's usage; needed by `costUsd` budgets (D-6). */
  readonly price?: (usage: Usage, modelId: string) => number;
  /**
   * What budgets, timeouts and timestamps run on.
   * @default the clocks of the runtime
   */
  readonly clock?: Clock;
  /** Limits of every tree (D-18). */
  readonly limits?: Limits;
  /**
   * For tools that do not say themselves: show the model what they threw (D-11).
   * @default false
   */
  readonly exposeErrors?: boolean;
}

/** See {@link KeelOptions.capture}. */
export interface Capture {
  /**
   * Arguments and results of calls, nested ones included, and refused submits.
   * @default false
   */
  readonly toolIo?: boolean;
  /**
   * What models reply, in `step.completed`.
   * @default false
   */
  readonly modelIo?: boolean;
  /**
   * Changes a payload wherever it is read: in events, records and transcripts; what is stored stays as it was (D-24). `toolId` is `undefined` for a
   * model's reply and for a submit. A throw hides the payload.
   */
  readonly redact?: (kind: PayloadKind, toolId: string | undefined, value: Json) => Json;
}

/** What `redact` is asked to change. */
export type PayloadKind = "toolInput" | "toolOutput" | "modelReply" | "submit";

/** A place to run turns. */
export interface Keel {
  /** Like the function {@link run}, on this keel. Rejects with `KEEL_CLOSED` after `close`. */
  run<Emits extends Part, Contract extends Emits = never>(
    agent: Agent<Emits>,
    input: TurnInput,
    options?: RunOptions<Contract>,
  ): Promise<TurnResult<Emits, Contract>>;
  /** Like the function {@link stream}, on this keel. */
  stream<Emits extends Part, Contract extends Emits = never>(
    agent: Agent<Emits>,
    input: TurnInput,
    options?: RunOptions<Contract>,
  ): TurnStream<Emits, Contract>;
  /**
   * Goes on with a suspended root turn, in the process in which it was suspended, and resolves as `run` does: when it ends, or stands still again
   * (D-31). Exactly the pending calls run; gates that admitted them are not asked again.
   *
   * @throws KeelError (as a rejection) `OPTION_INVALID` when no such turn is suspended, an id is not pending or a decision does not fit its kind,
   * `KEEL_CLOSED`
   */
  resume(turnId: string, options?: ResumeOptions): Promise<TurnResult>;
  /** Is to `resume` what `stream` is to `run`: the events from here on. Throws at once. */
  resumeStream(turnId: string, options?: ResumeOptions): TurnStream;
  /** Stops a turn and its scope (NT-27), suspended or not; resolves `false` when it is unknown or has ended (D-40). */
  stop(turnId: string, options?: StopOptions): Promise<boolean>;
  /** What is kept of turns. */
  readonly records: Records;
  /** Refuses new turns, stops live ones with the reason `"closed"`, writes out what is left (D-40). */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of {@link Keel.stop}. */
export interface StopOptions {
  /** Ends up in the outcome and the record of every stopped turn. */
  readonly reason?: unknown;
  /**
   * `"tree"` stops the whole tree that the turn is in; `"subtree"` the turn and what is below it, and its caller gets `STOPPED` (NT-27).
   * @default "tree"
   */
  readonly scope?: "tree" | "subtree";
}

/** The records of a keel. Turns that are unknown, or no longer kept, give `undefined` or nothing. */
export interface Records {
  /** One turn's record. */
  get(turnId: string): Promise<TurnRecord | undefined>;
  /** Records, newest first, page by page. */
  list(filter?: RecordFilter): Promise<RecordPage>;
  /** A turn's record with those of all turns below it (NT-39). */
  tree(turnId: string): Promise<RecordTree | undefined>;
  /** The messages of one turn. */
  transcript(turnId: string): Promise<readonly ModelMessage[] | undefined>;
  /** The events of one turn in order, except `text.delta`: the transcript has the text. With `tree: true` of all turns below it too. */
  events(turnId: string, options?: { readonly tree?: boolean }): Promise<readonly KeelEvent[]>;
}

/** Which records `list` gives; all fields must match. */
export interface RecordFilter {
  /** Turns in this state only. */
  readonly status?: TurnStatus;
  /** Turns of this agent only. */
  readonly agentId?: string;
  /** Turns of this tree only. */
  readonly rootTurnId?: string;
  /** Turns that this turn opened only. */
  readonly parentTurnId?: string;
  /**
   * How many a page holds at most.
   * @default 100
   */
  readonly limit?: number;
  /** Where the page before ended. */
  readonly cursor?: string;
}

/** A page of records. */
export interface RecordPage {
  /** Newest first. */
  readonly items: readonly TurnRecord[];
  /** For the next page; absent on the last. */
  readonly cursor?: string;
}

/** A record and those of the turns that it opened, in order. */
export interface RecordTree {
  /** The turn's own record. */
  readonly record: TurnRecord;
  /** In the order in which they were opened, retries included. */
  readonly children: readonly RecordTree[];
}
