/** Middleware: hooks around model calls and tool calls, for a keel, a run or an agent. */

import type { TurnContext } from "./context.js";
import type { AssistantContent, FinishReason, ModelRequest, ModelUsage } from "./model.js";
import type { Awaitable, Json } from "./schema.js";
import type { Workspace } from "./security.js";
import type { ToolEffects, ToolResult, ToolResultOptions } from "./tool.js";

/**
 * Defines a middleware. Those of a keel are outermost, then the run's, then the agent's; within a list the first one is. Middleware of keel and run
 * binds the whole tree, an agent's the turns of that agent (D-16, D-18).
 *
 * @throws KeelError `OPTION_UNKNOWN`, `OPTION_INVALID`. With `limits.maxNestedDepth` above 0, `createKeel` and `run` throw `NESTED_UNGUARDED` for one
 * that has `beforeTool`, no `checkNestedTool`, and does not say `nested: "exempt"`.
 */
export function defineMiddleware(options: MiddlewareOptions): Middleware;

/** Options of {@link defineMiddleware}: a name, and whichever hooks are needed. Hooks are called with the options as `this`. */
export interface MiddlewareOptions extends MiddlewareHooks {
  /** Names it in messages. */
  readonly name: string;
  /** `"exempt"`: its `beforeTool` is meant for the model's calls alone, and that nested calls pass it by is no oversight. */
  readonly nested?: "exempt";
  /**
   * Whether `wrapTool` may be around several nested calls at once. With one that may not, all nested calls of the tree run one at a time.
   * @default true
   */
  readonly concurrentSafe?: boolean;
}

/** A defined middleware; frozen. */
export interface Middleware extends MiddlewareHooks {
  /** The brand of definitions. */
  readonly kind: "middleware";
  /** Names it in messages. */
  readonly name: string;
  /** Whether nested calls pass it by on purpose. */
  readonly nested?: "exempt";
  /** Whether `wrapTool` may be around several nested calls at once. */
  readonly concurrentSafe: boolean;
}

/**
 * The hooks. Those of one stage run one after the other, and together have `limits.hookTimeoutMs` (D-16); `wrapTool` has the time of its call.
 * `beforeTool`, `afterTool` and `onError` see what the model asked for; `checkNestedTool` and `observeNestedResult` see what tools ask for.
 */
export interface MiddlewareHooks {
  /** Before each step. A returned request takes the place of this step's; the transcript stays as it is (D-33). A throw fails the turn, `MODEL_ERROR`. */
  beforeModel?(context: HookContext, request: ModelRequest): Awaitable<ModelRequest | void>;
  /** After each step. A throw fails the turn, `MODEL_ERROR`. */
  afterModel?(context: HookContext, reply: StepReply): Awaitable<void>;
  /** Admits or refuses a call of the model, once its arguments have been checked. */
  beforeTool?(context: HookContext, call: HookCall): Awaitable<Verdict>;
  /** After a call of the model has a result. A returned result takes its place, for the model too; where it throws, the result is withheld. */
  afterTool?(context: HookContext, call: HookCall, result: ToolResult): Awaitable<ToolResultOptions | void>;
  /** Admits or refuses a nested call, as `beforeTool` does for the model's; `"defer"` refuses it, since nested calls never wait for a human. */
  checkNestedTool?(context: HookContext, call: HookCall): Awaitable<Verdict>;
  /** Told of each nested call that has a result, before its caller is. What it returns or throws changes nothing; the time it takes delays the call. */
  observeNestedResult?(context: HookContext, call: HookCall, result: ToolResult): Awaitable<void>;
  /**
   * Around each call, nested or not, once it is admitted. What it returns is the call's result, nothing is an empty one. A `KeelError` that it throws
   * answers the call with its message; anything else, as a tool's own throw does.
   */
  wrapTool?(context: HookContext, call: HookCall, next: NextLayer): Awaitable<ToolResultOptions | void>;
  /** Told what a model or a tool threw, or what an `observeNestedResult` did. What it does changes nothing. */
  onError?(context: HookContext, error: unknown): Awaitable<void>;
}

/** Where a hook runs. */
export interface HookContext extends TurnContext {
  /** As given to `createKeel`. */
  readonly workspace?: Workspace;
}

/** A call, as hooks see it. */
export interface HookCall {
  /** The tool that is called. */
  readonly toolId: string;
  /** Unique within the turn; a nested call's is `<parent call>/<n>` (D-14). */
  readonly callId: string;
  /** The calling call; absent when the model issued the call. */
  readonly parentCallId?: string;
  /** The arguments, checked, repaired and with what is injected; before a Standard Schema's defaults and transforms. */
  readonly args: Json;
  /** The turn that the call belongs to. */
  readonly turnId: string;
  /** The agent that the turn runs. */
  readonly agentId: string;
  /** 0 when the model issued the call, 1 for what its tool calls, and so on. */
  readonly level: number;
}

/**
 * What `beforeTool` and `checkNestedTool` answer. Nothing admits. `{ deny }` refuses with exactly that text, as a thrown
 * `KeelError` `TOOL_FAILED` does. `"defer"` asks for a human, as a thrown `APPROVAL_REQUIRED` does. Any other throw refuses with
 * `call '<tool>' refused: <message>`; a `REPEATED_CALL` thrown by `beforeTool` fails the turn.
 */
export type Verdict = void | { readonly deny: string } | "defer";

/**
 * The next layer, or the tool itself inside the last one. May be called not at all, once, or again; with other `args`, which are not checked again.
 * The other fields of `call` have no effect: which tool runs cannot be changed.
 *
 * @throws KeelError (as a rejection) `TOOL_ERROR` with what the tool threw as its `cause`, `APPROVAL_REQUIRED`, or `TOOL_FAILED` once the call is over
 */
export type NextLayer = (call?: NextCall) => Promise<ToolResult>;

/** What {@link NextLayer} takes: the call, or just its arguments. */
export type NextCall = Partial<Omit<HookCall, "args">> & {
  /** Other arguments, any JSON. */
  readonly args?: unknown;
};

/** What a model replied in one step. */
export interface StepReply {
  /** In the order in which the model wrote it; the `input` of a call is JSON text here. */
  readonly content: readonly AssistantContent[];
  /** Why the model stopped. */
  readonly finishReason: FinishReason;
  /** What the call used. */
  readonly usage: ModelUsage;
}

/**
 * Admits the tools of these ids only, nested calls included, and offers the model no others. Children of `asTool` are bound too when it stands on
 * the keel or the run. A refused call is answered with `tool `…` is not on the allowlist`.
 *
 * @throws KeelError `OPTION_INVALID`
 */
export function toolAllowlist(ids: readonly string[]): Middleware;

/**
 * Judges every call, nested ones included, by what is declared of its tool, and offers the model no tool that would be refused. Permissive unless
 * told otherwise: what has no entry is admitted.
 *
 * @param policies By tool id; `{ ...tool.effects }` makes an entry of a definition.
 * @throws KeelError `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function toolPolicy(policies: Readonly<Record<string, ToolPolicy>>, options?: ToolPolicyOptions): Middleware;

/** What is declared of one tool. An entry that says something of its effects classifies the tool. */
export interface ToolPolicy extends ToolEffects {
  /** Whether it needs to be granted by name, see `requireApproval`. */
  readonly approval?: "none" | "required";
  /** Whether it may run while nobody watches, see `requireBackgroundSafe`. */
  readonly backgroundSafe?: boolean;
}

/** An effect that a policy can deny. */
export type SideEffect = Exclude<keyof ToolEffects, "readOnly" | "sandbox">;

/** Options of {@link toolPolicy}. */
export interface ToolPolicyOptions {
  /**
   * Refuses tools without an entry and unclassified ones, and denies `destructive` and `payment`.
   * @default false
   */
  readonly strict?: boolean;
  /** Refuses tools that declare one of these. */
  readonly deny?: readonly SideEffect[];
  /** Refuses tools with `approval: "required"`, except those named here. Not checked when absent. */
  readonly requireApproval?: readonly string[];
  /**
   * Refuses tools with `sandbox: "required"` unless `createKeel({ workspace: { sandbox: "required" } })`.
   * @default false
   */
  readonly requireSandbox?: boolean;
  /**
   * Refuses tools without `backgroundSafe: true`.
   * @default false
   */
  readonly requireBackgroundSafe?: boolean;
}

/**
 * Lets a human decide about the named tools. What nobody allows waits, as a call that needs an approval does (D-31); a nested call is refused,
 * since nobody could be asked. Approvals of a model's call are bound to that call and hold for no nested one.
 *
 * @throws KeelError `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function humanApproval(options: HumanApprovalOptions): Middleware;

/** Options of {@link humanApproval}. */
export interface HumanApprovalOptions {
  /** Tool ids. */
  readonly tools: readonly string[];
  /**
   * `"allow"` and `true` admit, `{ deny }` refuses with that text, anything else asks for a human. Bound by `limits.hookTimeoutMs`, unlike the `approve`
   * of `createKeel`.
   */
  readonly approve?: (call: HookCall) => Awaitable<"allow" | "defer" | { readonly deny: string } | boolean | undefined>;
}

/**
 * While the mode is `"plan"`, only tools without side effects run, nested calls included. A tool without a policy, or with one that says nothing of
 * its effects, counts as side-effecting; name in `allow` the tools that call others, and connections.
 *
 * @throws KeelError `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function planMode(options: PlanModeOptions): Middleware;

/** Options of {@link planMode}. */
export interface PlanModeOptions {
  /** Asked anew for each call, so it may change while turns run. Anything but `"build"` plans. */
  readonly mode: RunMode | { readonly current: RunMode } | (() => RunMode);
  /** By tool id. */
  readonly policies?: Readonly<Record<string, ToolPolicy>>;
  /** Tools that run in either mode. */
  readonly allow?: readonly string[];
}

/** `"plan"`: look, do not touch. */
export type RunMode = "plan" | "build";

/**
 * Fails a turn with `REPEATED_CALL` when its model issues one call, of the same tool and arguments, for the `max`-th time again. Nested calls are not
 * counted.
 *
 * @throws KeelError `OPTION_UNKNOWN`, `OPTION_INVALID`
 */
export function repeatGuard(options: {
  /** Repeats, not calls: with 1 the second equal call fails the turn. */
  readonly max: number;
}): Middleware;
