/** The effect ledger: what was begun, kept outside the process, for whoever has to find out what happened. */

import type { Awaitable } from "./schema.js";

/**
 * One row per call that runs, the model's and nested ones; a connection has none of its own, its child's calls do (D-22). Rows are written in order,
 * around the tool. The methods may be missing; what they do, and what else the object has, is its own affair.
 */
export interface Ledger {
  /** Before the tool runs. A throw is handled as `onStartFailure` says. */
  started?(entry: LedgerStart): Awaitable<void>;
  /** After it. A call that is cut off is not settled: its row stays started. A throw changes nothing. */
  settled?(entry: LedgerEnd): Awaitable<void>;
  /**
   * The calls of a turn that were started and never settled, as rows or as their ids. Asked before a nested call of a tool with `replay: "never"` runs,
   * which is refused when its own id is among them. A throw refuses too, with `LEDGER`.
   */
  unresolved?(turnId: string): Awaitable<readonly (string | { readonly callId: string })[]>;
  /**
   * `"abort"`: a call whose start could not be written does not run and is answered with `LEDGER`. `"continue"`: it runs.
   * @default "abort"
   */
  readonly onStartFailure?: "abort" | "continue";
}

/** What `started` is told. */
export interface LedgerStart {
  /** The turn that the call belongs to. */
  readonly turnId: string;
  /** The call, unique within its turn. */
  readonly callId: string;
  /** The calling call; absent when the model issued the call. */
  readonly parentCallId?: string;
  /** The tool that runs. */
  readonly toolId: string;
  /** The same as the tool's `context.idempotencyKey` (D-23). */
  readonly idempotencyKey: string;
  /** SHA-256 of tool and arguments alone, in hexadecimal: equal for equal calls. */
  readonly argsHash: string;
}

/** What `settled` is told. */
export interface LedgerEnd {
  /** The turn that the call belongs to. */
  readonly turnId: string;
  /** The call, unique within its turn. */
  readonly callId: string;
  /** `"completed"`: there is a result, also one in which the tool reports failure. `"failed"`: it threw, or turned out to need a human. */
  readonly status: "completed" | "failed";
}

/** A ledger in memory: enough for a single process, and what the interface means. Keeps every row. */
export function memoryLedger(): MemoryLedger;

/** What {@link memoryLedger} returns; frozen. */
export interface MemoryLedger extends Ledger {
  started(entry: LedgerStart): void;
  settled(entry: LedgerEnd): void;
  unresolved(turnId: string): readonly LedgerRow[];
  /** Every row, in the order in which the calls started. */
  rows(): readonly LedgerRow[];
}

/** A row of {@link memoryLedger}. */
export interface LedgerRow extends LedgerStart {
  /** How it stands. */
  readonly status: "started" | "completed" | "failed";
}
