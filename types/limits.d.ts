/** Budgets and limits: what turns may spend and how they behave at their edges. */

/** What a turn may spend. Positive whole numbers, `costUsd` any positive one, else `BUDGET_INVALID`; nothing a model says can raise one (NT-26). */
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
   * When the steps run out: fail with `BUDGET_STEPS`, or grant one last step without tools (with a contract: with the submit tool only),
   * which is not counted as used (NT-14, D-4).
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
   * Milliseconds for an access predicate, or for the middleware of one stage; what takes longer refuses (D-16).
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
   * How deep tools may call tools: a call of the model is level 0, what its tool calls level 1. 0 turns `callTool` off. Above 0, every middleware with
   * `beforeTool` has to say what becomes of nested calls (`NESTED_UNGUARDED`). Binds the whole tree.
   * @default 0
   */
  readonly maxNestedDepth?: number;
  /**
   * How deep child turns may be. Beyond it connections are not offered, and a call to one is refused with `DEPTH`. Binds the whole tree.
   * @default 8
   */
  readonly maxDepth?: number;
  /**
   * Tool bodies that may run at once in the whole tree, the model's calls and nested ones together; 0 is 1 (D-19). A call that waits for calls or turns
   * below it lends its place to them. A dropped call gives its place back although its JavaScript may still run.
   * @default no limit
   */
  readonly maxToolConcurrency?: number;
  /**
   * Retries of a model call after a retryable error, within one step (NT-40).
   * @default 3
   */
  readonly maxModelRetries?: number;
  /**
   * When the tool calls run out: fail with `BUDGET_TOOL_CALLS`, or complete with `partial: true`, which a turn with a contract
   * never does (D-4, D-9).
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
  /** Model calls; charged when reserved, so never overspent. */
  readonly steps?: number;
  /** Tool calls; charged when reserved, so never overspent. */
  readonly toolCalls?: number;
  /** Tokens; the calls in flight may overshoot (D-6). */
  readonly tokens?: number;
  /** US dollars; the calls in flight may overshoot (D-6). */
  readonly costUsd?: number;
}
