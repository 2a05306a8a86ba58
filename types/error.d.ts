/** Errors that are thrown or rejected with, and causes that outcomes carry. One table of codes for both. */

/**
 * The one error class. Thrown synchronously by definitions, rejected with by misuse of a keel and by refused nested calls (NT-10).
 * What happens inside a turn is no exception: it is the `outcome` of the result. Its `name` is `"KeelError"`.
 */
export class KeelError extends Error {
  /**
   * @param code A code of the table, or one of your own.
   * @param message One sentence: which agent, tool or part, what was expected, what was found.
   */
  constructor(code: ErrorCode | (string & {}), message: string, options?: KeelErrorOptions);
  /** Stable, SCREAMING_SNAKE; switch on it. */
  readonly code: ErrorCode | (string & {});
  /** Figures behind the message; the shape depends on the code. */
  readonly details?: unknown;
  /** The address of the paragraph that explains the code. */
  readonly docs: string;
  /** Whether `error` is a KeelError of this or of any other loaded copy of the package. */
  static isInstance(error: unknown): error is KeelError;
}

/** What a {@link KeelError} may carry beside its code and message. */
export interface KeelErrorOptions {
  /** What was thrown underneath, untouched (D-11). */
  readonly cause?: unknown;
  /** Figures behind the message. */
  readonly details?: unknown;
}

/** Every code that this package uses. */
export type ErrorCode = DefinitionCode | CauseCode | CallCode;

/** Codes of a definition, an option or a store that cannot work: thrown before anything runs. */
export type DefinitionCode =
  /** The deliverable is not in the agent's `emits` (NT-5). */
  | "DELIVERABLE_NOT_EMITTED"
  /** The deliverable part is not `persist: "content"` (NT-6). */
  | "DELIVERABLE_NOT_CONTENT"
  /** The agent has a tool with the id `submit_<part.name>` (NT-7). */
  | "SUBMIT_TOOL_TAKEN"
  /** `defineTool` or `defineSource` without an `access` rule (NT-8). */
  | "ACCESS_MISSING"
  /** Two tools of one agent share an id (NT-9). */
  | "TOOL_ID_TAKEN"
  /** An id or a part name that a provider would reject (NT-9, D-14). */
  | "ID_INVALID"
  /** The schema's library offers no JSON Schema; the message names what to install (D-27). */
  | "SCHEMA_NOT_CONVERTIBLE"
  /** The JSON Schema does not compile; the message names the definition and the path (NT-9). */
  | "SCHEMA_INVALID"
  /** A budget that is not a positive finite number, or `costUsd` without `price` (NT-9, D-6). */
  | "BUDGET_INVALID"
  /** A limit out of its range (NT-9). */
  | "LIMIT_INVALID"
  /** An option that does not exist; the message names the closest one that does (NT-9). */
  | "OPTION_UNKNOWN"
  /** An option of the wrong type or value, `retries`, `nudges`, `maxUses` and `timeoutMs` included (NT-9). */
  | "OPTION_INVALID"
  /** Two parts of one `emits` share a name (NT-9). */
  | "PART_TAKEN"
  /** A part to be forwarded or emitted that is not in the agent's `emits` (NT-9). */
  | "PART_NOT_EMITTED"
  /** A tool or a source needs scopes that its agent's `grants` lack, so it could never be used (NT-9). */
  | "GRANT_MISSING"
  /** Neither an AI SDK language model nor a model of your own. */
  | "MODEL_INVALID"
  /** With nested calls on, a middleware guards the model's calls but not nested ones; the message names it (D-16). */
  | "NESTED_UNGUARDED"
  /** The keel has been closed (D-40). */
  | "KEEL_CLOSED"
  /** `records` names a store that this build cannot open. */
  | "STORE_UNSUPPORTED"
  /** The native binary for this platform is not installed; the message names it. */
  | "BINARY_MISSING";

/** Why a turn failed, or why its caller got `{ ok: false }`. Closed: a new code is a documented addition. */
export type CauseCode =
  /** The granted steps are used up (NT-14); with `issues` when the last step held an invalid submit (D-3). */
  | "BUDGET_STEPS"
  /** A deadline passed: the turn's own or its caller's, see `budget.ceiling` of the record (NT-22, D-2). */
  | "BUDGET_TIME"
  /** The granted tool calls are used up (D-9). */
  | "BUDGET_TOOL_CALLS"
  /** The granted tokens are used up; checked before each model call (D-6). */
  | "BUDGET_TOKENS"
  /** The granted money is used up; checked before each model call (D-6). */
  | "BUDGET_COST"
  /** A ceiling of `limits.tree` is reached (NT-25). */
  | "TREE_LIMIT"
  /** The turn ended without any submit, and no nudges are left (NT-18). */
  | "DELIVERABLE_MISSING"
  /** The turn ended with invalid submits only, and no nudges are left; `issues` are the last one's (NT-18). */
  | "DELIVERABLE_INVALID"
  /** The model failed, beyond what retries mend (NT-40). */
  | "MODEL_ERROR"
  /** The model repeated one call too often, under `repeatGuard` or a `beforeTool` that throws this code. */
  | "REPEATED_CALL"
  /** A child turn failed under `onError: "fail"`; `cause` is the child's (NT-28). */
  | "CHILD_FAILED"
  /** The turn may not read a source of its agent (NT-32). Also the code of a refused call (NT-33). */
  | "ACCESS_DENIED"
  /** A stop reached the turn (NT-27). */
  | "STOPPED"
  /** The caller ended while this turn was running (NT-38). */
  | "PARENT_ENDED"
  /**
   * The model called a tool with arguments that its schema refuses, under `invalidArgs: "fail"`; `issues` say why. Also the code of a call whose
   * injected arguments could not be had.
   */
  | "VALIDATION"
  /** A source's `load` or an `instructions` function threw; under `onError: "fail"` a connection's `brief` too. */
  | "INSTRUCTIONS_FAILED"
  /** A bug of this package, caught at the boundary; it ends that turn only (D-34). */
  | "INTERNAL";

/**
 * Codes of a single call or value: rejections of `callTool`, `next` and `emit`, and `error.code` of `tool.*` events. A call may also be refused with
 * `ACCESS_DENIED`, `TREE_LIMIT`, `VALIDATION` or `REPEATED_CALL` of {@link CauseCode}.
 */
export type CallCode =
  /** A value that the part's schema refuses was emitted. */
  | "PART_INVALID"
  /** The call was refused, or the tool reported failure; the message is what the model reads. */
  | "TOOL_FAILED"
  /** `tool not found: <name>` (D-13). */
  | "TOOL_NOT_FOUND"
  /** A cap refused the call: the turn's tool calls, or `maxUses`. */
  | "LIMIT_EXCEEDED"
  /** A connection would open a child turn deeper than `limits.maxDepth`. The call is refused; the turn goes on. */
  | "DEPTH"
  /** A deadline cut the call (D-12). */
  | "TIMEOUT"
  /** A stop cut the call (D-12). */
  | "CANCELLED"
  /** The tool threw; `cause` is what it threw, for code only (D-11). */
  | "TOOL_ERROR"
  /** The effect ledger could not be written, or asked. */
  | "LEDGER"
  /** A recorded call and its replay differ. */
  | "REPLAY_MISMATCH"
  /** The call needs a human. Thrown by a hook or a tool, it asks for one; `orThrow` throws it for a suspended turn. */
  | "APPROVAL_REQUIRED"
  /** An approval was given for other arguments than the call has (D-31). */
  | "APPROVAL_MISMATCH"
  /** A value nested deeper than 128 levels (D-25). */
  | "VALUE_TOO_DEEP";

/** Why a turn failed, as data: it is stored, sent to the calling model and nested when failures travel upwards. Discriminated by `code`. */
export type Cause = ChildFailedCause | ModelErrorCause | OwnCause;

/** A child's failure that failed its caller (NT-28). */
export interface ChildFailedCause extends CauseFields {
  readonly code: "CHILD_FAILED";
  /** Why the child failed. */
  readonly cause: Cause;
}

/** A model's failure (NT-40). */
export interface ModelErrorCause extends CauseFields {
  readonly code: "MODEL_ERROR";
  /** What the model threw, untouched. In the result only: records and events are data. */
  readonly cause?: unknown;
}

/** A failure with nothing underneath. */
export interface OwnCause extends CauseFields {
  readonly code: Exclude<CauseCode, "CHILD_FAILED" | "MODEL_ERROR">;
}

/** What every {@link Cause} says. */
export interface CauseFields {
  /** One sentence for a human or a model. */
  readonly message: string;
  /** The turn that failed. */
  readonly turnId: string;
  /** What the schema found wrong with the last submit, or with the arguments; at most 10 (NT-17). */
  readonly issues?: readonly Issue[];
  /** The number that was reached, in the unit of its budget or limit. */
  readonly limit?: number;
  /** Under `BUDGET_TIME`: whose deadline it was (NT-22, D-2). */
  readonly ceiling?: "own" | "caller";
}

/** One place where a value and its schema disagree. */
export interface Issue {
  /** JSON Pointer to the offending value, such as `/items/0/url`; `""` is the root. */
  readonly path: string;
  /** The rule and what was found. */
  readonly message: string;
}
