/** Agents, what they read, and the connections that make one callable by another. */

import type { Cause } from "./error.js";
import type { LanguageModel, ModelOptions } from "./model.js";
import type { Deliverable, Part, PartOutput, PartValue } from "./part.js";
import type { AnySchema, Awaitable, InferInput, InferOutput, StandardSchemaV1 } from "./schema.js";
import type { AccessRule, Tool, TurnContext } from "./tool.js";

/**
 * Defines an agent. The definition is immutable and may run in any number of turns at once (NT-4).
 * Agents that refer to each other pass `tools` as a function; TypeScript then needs one of them annotated, `const a: Agent = defineAgent(…)`.
 *
 * @throws KeelError `ID_INVALID`, `MODEL_INVALID`, `TOOL_ID_TAKEN`, `PART_TAKEN`, `GRANT_MISSING`, `BUDGET_INVALID`, `LIMIT_INVALID`,
 * `OPTION_UNKNOWN`, `OPTION_INVALID` (NT-9)
 */
export function defineAgent<Emits extends Part = never>(options: AgentOptions<Emits>): Agent<Emits>;

/** Options of {@link defineAgent}. */
export interface AgentOptions<Emits extends Part = Part> {
  /** Letters, digits, `_` and `-`, starting with a letter or `_`; at most 60 characters, so that `run-<id>` fits (D-14). */
  readonly id: string;
  /** What the agent is for; the default description of the tool that {@link asTool} makes. */
  readonly description?: string;
  /** The model that takes the steps. */
  readonly model: LanguageModel;
  /** Settings sent with every model call (D-39). */
  readonly modelOptions?: ModelOptions;
  /** The system message, or a function that makes it once per turn. A throw fails the turn with `INSTRUCTIONS_FAILED`. */
  readonly instructions?: string | ((context: TurnContext) => Awaitable<string>);
  /** What the model may call. A function is resolved and checked once, at first use: so can agents refer to each other (D-29). */
  readonly tools?: readonly Tool[] | (() => readonly Tool[]);
  /** The parts that the agent may emit or owe. They type `result.parts`. */
  readonly emits?: readonly Emits[];
  /** What is read before each turn and put before the instructions. One that the turn may not read fails it with `ACCESS_DENIED` (NT-32). */
  readonly reads?: readonly Source[];
  /** The scopes that the agent may use, of those that its caller has; none when absent (NT-32). */
  readonly grants?: readonly string[];
  /** What each turn of the agent is granted. */
  readonly budget?: Budget;
  /** How turns of the agent behave. It may only lower what binds the whole tree (D-18). */
  readonly limits?: Limits;
}

/** A defined agent; frozen. `Emits` is the union of its parts. */
export interface Agent<Emits extends Part = Part> {
  readonly kind: "agent";
  readonly id: string;
  readonly description?: string;
  readonly model: LanguageModel;
  readonly modelOptions?: ModelOptions;
  readonly instructions?: string | ((context: TurnContext) => Awaitable<string>);
  readonly tools: readonly Tool[] | (() => readonly Tool[]);
  readonly emits: readonly Emits[];
  readonly reads: readonly Source[];
  readonly grants: readonly string[];
  readonly budget?: Budget;
  readonly limits?: Limits;
}

/**
 * Defines something that an agent reads before its instructions.
 *
 * @throws KeelError `ACCESS_MISSING`, `ID_INVALID`, `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function defineSource(options: SourceOptions): Source;

/** Options of {@link defineSource}. */
export interface SourceOptions {
  /** Letters, digits, `_` and `-`, starting with a letter or `_`; at most 64 characters. */
  readonly id: string;
  /** Who may have it read; required (NT-32, NT-33). */
  readonly access: AccessRule;
  /** The text, once per turn. A throw fails the turn with `INSTRUCTIONS_FAILED`. */
  load(context: TurnContext): Awaitable<string>;
}

/** A defined source; frozen. */
export interface Source extends SourceOptions {
  readonly kind: "source";
}

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
   * @default the input's own `brief`
   */
  readonly brief?: (input: InferOutput<S>) => string;
  /** What each child turn is granted, field by field before the agent's own (D-18). */
  readonly budget?: Budget;
  /** How the child turn behaves, field by field before the agent's own (D-18). */
  readonly limits?: Limits;
  /** The part that the child owes; must be in its `emits` and `persist: "content"` (NT-5, NT-6, NT-11). */
  readonly deliverable?: Deliverable<Contract>;
  /**
   * How many fresh child turns may follow a failed one, each on a fresh grant (NT-24).
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
  readonly ok: true;
  /** The accepted submit: valid, whole, never cut (NT-16, NT-19). */
  readonly deliverable: PartOutput<Contract>;
}

/** The answer of a connection without a contract. */
export interface DelegationText<Emits extends Part> {
  readonly ok: true;
  /** The text of the child's last step that produced any. */
  readonly text: string;
  /** What the child emitted, in order. */
  readonly parts: readonly PartValue<Emits>[];
  /** Present when the child produced neither text nor parts: an empty success is never silent. */
  readonly empty?: true;
  /** Present when the child was ended by `behavior: "stopWithPartial"` or `onExhausted: "answer"` (D-4). */
  readonly partial?: true;
}

/** The answer of a connection whose child did not complete. */
export interface DelegationFailure {
  readonly ok: false;
  readonly cause: Cause;
  /** The child turn, to look it up in the records. */
  readonly turnId: string;
}

/** What a turn may spend. Every number is positive and finite, else `BUDGET_INVALID`; nothing a model says can raise one (NT-26). */
export interface Budget {
  /**
   * Model calls. Nudge rounds come on top (NT-18); a child's are not deducted (NT-21).
   * @default 25
   */
  readonly steps?: number;
  /**
   * Milliseconds of running time, on the keel's clock; time spent suspended does not count (D-5). A child never outlives its caller (NT-22).
   * @default no ceiling of its own
   */
  readonly timeMs?: number;
  /**
   * Tool calls, the model's and nested ones together; reserved before they start, so never overspent (D-6).
   * @default 50
   */
  readonly toolCalls?: number;
  /** Tokens, checked before each model call: the call in flight may overshoot (D-6). */
  readonly tokens?: number;
  /** US dollars, checked before each model call; needs `createKeel({ price })` (D-6). */
  readonly costUsd?: number;
  /**
   * When the steps run out: fail with `BUDGET_STEPS`, or grant one last step without tools (with a contract: with the submit tool only)
   * (NT-14, D-4).
   * @default "fail"
   */
  readonly onExhausted?: "fail" | "answer";
}

/** How turns behave. Precedence per field: options of the run or connection, agent, keel, default (D-18). */
export interface Limits {
  /**
   * `"sequential"` runs the calls of one step one after the other (D-10).
   * @default "parallel"
   */
  readonly toolExecution?: "parallel" | "sequential";
  /**
   * Milliseconds for an access predicate or another hook; a longer one refuses (D-16). Not for `approve`.
   * @default 30_000
   */
  readonly hookTimeoutMs?: number;
  /** Milliseconds for one model call (D-8). */
  readonly modelCallTimeoutMs?: number;
  /**
   * Milliseconds without a delta of a streamed model call (D-8).
   * @default 120_000
   */
  readonly streamIdleTimeoutMs?: number;
  /** UTF-8 bytes of one tool result that a model sees; more is cut, with a mark. Never a deliverable (D-39). */
  readonly toolResultBytes?: number;
  /**
   * How deep tools may call tools. 0 turns `callTool` off. Takes effect only with nested calls. Binds the whole tree.
   * @default 0
   */
  readonly maxNestedDepth?: number;
  /**
   * How deep child turns may be; beyond it a delegation fails with `DEPTH`. Binds the whole tree.
   * @default 8
   */
  readonly maxDepth?: number;
  /** Tool bodies that may run at once in the whole tree (D-19). A dropped call gives its place back although its JavaScript may still run. */
  readonly maxToolConcurrency?: number;
  /**
   * Retries of a model call after a retryable error, within one step (NT-40).
   * @default 3
   */
  readonly maxModelRetries?: number;
  /**
   * When the tool calls run out: fail with `BUDGET_TOOL_CALLS`, or complete with `partial: true` (D-4, D-9).
   * @default "error"
   */
  readonly behavior?: "error" | "stopWithPartial";
  /**
   * What arguments that the schema refuses lead to: a failed turn, an error answer to the model, or an attempt to repair them first.
   * @default "returnToolError"
   */
  readonly invalidArgs?: "fail" | "returnToolError" | "normalizeThenReturnToolError";
  /** Bounds of the tools' own `timeoutMs` (D-20). */
  readonly toolTimeout?: ToolTimeout;
  /** Ceilings of the whole tree; they refuse the next model or tool call of any of its turns with `TREE_LIMIT` (NT-25). */
  readonly tree?: TreeLimits;
}

/** See `limits.toolTimeout`. All in milliseconds. */
export interface ToolTimeout {
  /** For tools without a `timeoutMs` of their own. */
  readonly inheritedMs?: number;
  /** The shortest that a tool's own may be. */
  readonly minMs?: number;
  /** The longest that a tool's own may be. */
  readonly maxMs?: number;
  /** Added to the deadline, not to what the tool is told. */
  readonly graceMs?: number;
}

/** See `limits.tree`. */
export interface TreeLimits {
  readonly steps?: number;
  readonly toolCalls?: number;
  readonly tokens?: number;
  readonly costUsd?: number;
}
