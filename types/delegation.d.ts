/** Delegation: connections that make one agent callable by another. */

import type { AccessRule } from "./access.js";
import type { Agent } from "./agent.js";
import type { Cause } from "./error.js";
import type { Budget, Limits } from "./limits.js";
import type { Deliverable, Part, PartOutput, PartValue } from "./part.js";
import type { ContentPart } from "./model.js";
import type { AnySchema, Awaitable, InferInput, InferOutput, StandardSchemaV1 } from "./schema.js";
import type { Concurrency, Tool } from "./tool.js";

/**
 * Connects an agent as a tool: a call opens a child turn and waits for its outcome (NT-1). The tool answers with a {@link DelegationResult}.
 *
 * @throws KeelError `DELIVERABLE_NOT_EMITTED`, `DELIVERABLE_NOT_CONTENT`, `SUBMIT_TOOL_TAKEN`, `PART_NOT_EMITTED`, `ID_INVALID`, `BUDGET_INVALID`,
 * `LIMIT_INVALID`, `SCHEMA_NOT_CONVERTIBLE`, `SCHEMA_INVALID`, `OPTION_UNKNOWN`, `OPTION_INVALID` (NT-5 to NT-9)
 */
export function asTool<Emits extends Part, const S extends AnySchema = BriefSchema, Contract extends Emits = never>(
  agent: Agent<Emits>,
  options?: AsToolOptions<Emits, S, Contract>,
): Tool<InferOutput<S>, DelegationResult<Emits, Contract>, InferInput<S>>;

/** Options of {@link asTool}. */
export interface AsToolOptions<
  Emits extends Part = Part,
  S extends AnySchema = AnySchema,
  Contract extends Emits = Emits,
> {
  /**
   * The tool's id.
   * @default "run-<agent.id>" (NT-11)
   */
  readonly id?: string;
  /**
   * Told to the calling model.
   * @default the agent's description
   */
  readonly description?: string;
  /**
   * The schema of the call's arguments.
   * @default an object with the string `brief` (NT-11)
   */
  readonly input?: S;
  /**
   * Makes the child's first message from the call's parsed input.
   * @default the input's own `brief` when that is a text, else the whole input as JSON
   */
  readonly brief?: (input: InferOutput<S>) => Awaitable<string | readonly ContentPart[]>;
  /** What each child turn is granted, field by field before the agent's own (D-18). */
  readonly budget?: Budget;
  /** How the child turn behaves, field by field before the agent's own (D-18). */
  readonly limits?: Limits;
  /** The part that the child owes; must be in its `emits` and `persist: "content"` (NT-5, NT-6, NT-11). */
  readonly deliverable?: Deliverable<Contract>;
  /**
   * How many fresh child turns may follow a failed one, each on a fresh grant; a whole number, 0 or more (NT-24).
   * @default 0
   */
  readonly retries?: number;
  /**
   * `"feedback"` answers the calling model with the failure; `"fail"` fails the caller with `CHILD_FAILED` (NT-28).
   * @default "feedback"
   */
  readonly onError?: "feedback" | "fail";
  /**
   * Who may call it.
   * @default "public" (NT-11)
   */
  readonly access?: AccessRule;
  /**
   * Whether delegations may overlap, as for any tool (D-10).
   * @default "shared"
   */
  readonly concurrency?: Concurrency | ((input: InferOutput<S>) => Concurrency);
  /** What of the child shows in the caller's own events and result; nothing when absent (NT-34). */
  readonly forward?: Forward<NoInfer<Emits>>;
  /** Removes all scopes but these in the child and below; it can add none (NT-31). */
  readonly narrow?: { readonly scopes: readonly string[] };
}

/** What a connection forwards to the caller's stream. A forwarded part never satisfies the caller's own contract (NT-34). */
export interface Forward<Emits extends Part = Part> {
  /**
   * Compact `tool.progress` events with `forwardedFrom`.
   * @default false
   */
  readonly progress?: boolean;
  /** Parts of the child, as `part.emitted` events with `forwardedFrom`. */
  readonly parts?: readonly Emits[];
}

/** The input of a connection that names none. */
export type BriefSchema = StandardSchemaV1<{ brief: string }>;

/** What a connection answers (NT-12). Discriminated by `ok`. */
export type DelegationResult<Emits extends Part = Part, Contract extends Part = never> =
  | ([Contract] extends [never] ? DelegationText<Emits> : DelegationDeliverable<Contract>)
  | DelegationFailure;

/** The answer of a connection with a contract, once the child has kept it. */
export interface DelegationDeliverable<Contract extends Part> {
  /** The child completed. */
  readonly ok: true;
  /** The accepted submit: valid, whole, never cut (NT-16, NT-19). */
  readonly deliverable: PartOutput<Contract>;
}

/** The answer of a connection without a contract. */
export interface DelegationText<Emits extends Part> {
  /** The child completed. */
  readonly ok: true;
  /** The text of the child's last step that produced any. */
  readonly text: string;
  /** What the child emitted, in order. */
  readonly parts: readonly PartValue<Emits>[];
  /** Present when the child produced neither text nor parts: an empty success is never silent. */
  readonly empty?: true;
  /** Present when a limit cut the child short (D-4): `behavior: "stopWithPartial"` or `onExhausted: "answer"`. */
  readonly partial?: true;
}

/** The answer of a connection whose child did not complete. */
export interface DelegationFailure {
  /** The child failed or was stopped. */
  readonly ok: false;
  /** Why; `STOPPED` for a stopped child (NT-27). */
  readonly cause: Cause;
  /** The child turn, to look it up in the records. */
  readonly turnId: string;
}
