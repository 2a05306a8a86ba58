/** Tools: what a model, or another tool, can call. */

import type { AnySchema, Awaitable, InferInput, InferOutput, Json, Schema } from "./schema.js";
import type { Part } from "./part.js";

/**
 * Defines a tool. `execute` receives what the input schema hands on; its arguments have passed the schema before it is entered (D-26).
 *
 * @throws KeelError `ACCESS_MISSING`, `ID_INVALID`, `SCHEMA_NOT_CONVERTIBLE`, `SCHEMA_INVALID`, `LIMIT_INVALID`, `OPTION_UNKNOWN`, `OPTION_INVALID` (NT-8, NT-9)
 */
export function defineTool<const S extends AnySchema, const O extends AnySchema = never>(
  options: ToolOptions<S, O>,
): Tool<InferOutput<S>, ToolValue<O>, InferInput<S>>;

/** Options of {@link defineTool}: the schema stands in `input` or in its alias `inputSchema`, and only an external tool has no `execute`. */
export type ToolOptions<S extends AnySchema, O extends AnySchema = never> = ToolSettings<S, O> &
  ToolSchema<S> &
  ToolBody<S, O>;

/** What the tool's arguments must look like; an object schema. */
type ToolSchema<S> =
  | {
      /** The schema of the arguments (NT-9, D-26). */
      readonly input: S;
      readonly inputSchema?: never;
    }
  | {
      /** Alias of `input`, as the AI SDK spells it. */
      readonly inputSchema: S;
      readonly input?: never;
    };

/** Who runs the tool. */
type ToolBody<S extends AnySchema, O extends AnySchema> =
  | {
      readonly external?: false;
      /**
       * Runs one call. What it returns answers the call as JSON, or use {@link toolResult} and {@link toolError} for more control.
       * A throw answers the call too and never ends the turn: with `tool dispatch failed`, or its own text under `exposeErrors` (D-11).
       */
      execute(input: InferOutput<S>, context: ToolContext): ToolReturn<O>;
    }
  | {
      /** `true`: schema only. The turn suspends and the host supplies the result through `resume` (D-31). */
      readonly external: true;
      readonly execute?: never;
    };

interface ToolSettings<S extends AnySchema, O extends AnySchema> {
  /** The name that the model calls: letters, digits, `_` and `-`, starting with a letter or `_`, at most 64 characters (NT-9). */
  readonly id: string;
  /** Told to the model. */
  readonly description?: string;
  /** What the tool returns. Types `execute`'s return value and the `value` of a nested call's result. */
  readonly output?: O;
  /** Who may call it; required, since a forgotten rule must not mean "everybody" (NT-8, NT-33). */
  readonly access: AccessRule;
  /**
   * `"required"`: a human decides each call, see `createKeel({ approve })` (D-31).
   * @default "none"
   */
  readonly approval?: "none" | "required";
  /**
   * `"deferred"`: not listed to the model, yet callable by it and by `callTool`. `"hidden"`: callable by nobody (D-21).
   * @default "direct"
   */
  readonly exposure?: ToolExposure;
  /**
   * Whether calls may overlap. `"exclusive"` calls of one step run one at a time, in order; `"shared"` ones are never held back.
   * Unset: the model's calls run together, nested calls one at a time (D-10). A function decides by the call's parsed input.
   */
  readonly concurrency?: Concurrency | ((input: InferOutput<S>) => Concurrency);
  /**
   * `"safe"`: the call may be executed again after a crash. `"never"`: its effect must not happen twice (D-42).
   * @default "never"
   */
  readonly replay?: "never" | "safe";
  /** Milliseconds for one call, within `limits.toolTimeout` (D-20). Running out answers the call with an error; it does not end the turn. */
  readonly timeoutMs?: number | "unbounded";
  /** What the tool does to the world; read by policies. Takes effect only with nested calls and middleware. */
  readonly effects?: ToolEffects;
  /** Arguments that the host sets; the model neither sees nor can forge them. Takes effect only with nested calls. */
  readonly injects?: readonly InjectedArgument[];
  /** How often one turn may call the tool; further calls are refused. */
  readonly maxUses?: number;
  /**
   * Show the model what `execute` threw. Otherwise the text is kept from it (D-11).
   * @default false
   */
  readonly exposeErrors?: boolean;
}

/** See `exposure` of {@link defineTool}. */
export type ToolExposure = "direct" | "deferred" | "hidden";

/** See `concurrency` of {@link defineTool}. */
export type Concurrency = "exclusive" | "shared";

/** What a tool with the output schema `O` answers with; any JSON when there is none. */
export type ToolValue<O extends AnySchema> = [O] extends [never] ? Json : InferOutput<O>;

/** What `execute` may return: anything when there is no output schema. */
export type ToolReturn<O extends AnySchema> = [O] extends [never] ? unknown : Awaitable<InferInput<O> | ToolReply>;

/**
 * Who may use a tool or a source (NT-33). `"public"`: everybody. `"authenticated"`: whoever has an identity. `{ scopes }`: whoever holds all of
 * them, where a turn holds the identity's scopes that its agent's `grants` also name (NT-32). A predicate must answer `true`; anything else, or a
 * throw, refuses (D-16).
 */
export type AccessRule =
  | "public"
  | "authenticated"
  | { readonly scopes: readonly string[] }
  | ((who: Access) => Awaitable<boolean>);

/** Who asks, as an access predicate sees it. */
export interface Access {
  /** The identity that the root turn was started with (NT-31). */
  readonly identity?: Identity;
  /** The scopes in force: the identity's, reduced by the agent's grants and by `narrow` (NT-31, NT-32). */
  readonly scopes: readonly string[];
  /** The ambient value that the root turn was started with (D-28). */
  readonly ambient?: Json;
}

/** On whose behalf a turn runs. Inherited unchanged by every turn of the tree; nothing in it can be changed from inside (NT-31). */
export interface Identity {
  /** Who it is. */
  readonly id: string;
  /** What it may do; none when absent. */
  readonly scopes?: readonly string[];
  /** Further claims, for predicates and tools to read. */
  readonly [claim: string]: unknown;
}

/** What a tool does to the world. Takes effect only with nested calls and middleware. */
export interface ToolEffects {
  readonly readOnly?: boolean;
  readonly writesFiles?: boolean;
  readonly network?: boolean;
  readonly installsDependencies?: boolean;
  readonly destructive?: boolean;
  readonly externalService?: boolean;
  readonly payment?: boolean;
  /** @default "inherit" */
  readonly sandbox?: "inherit" | "disabled" | "required";
}

/** One argument that the host sets, whatever the caller sent under that name. Takes effect only with nested calls. */
export interface InjectedArgument {
  /** The argument's name; it is dropped from the schema that the model sees. */
  readonly name: string;
  /** A value of the host's, or the id of the call. */
  readonly from: "host" | "toolCallId";
}

/**
 * A defined tool; frozen. `In` is what `execute` receives, `Out` what it answers, `Args` what a caller passes, before defaults and transforms.
 */
export interface Tool<In = unknown, Out = unknown, Args = In> {
  readonly kind: "tool";
  readonly id: string;
  readonly description?: string;
  readonly input: Schema<In, Args>;
  readonly output?: Schema<Out, unknown>;
  readonly access: AccessRule;
  /** Absent for an external tool and for one made by `asTool`. */
  execute?(input: In, context: ToolContext): unknown;
  readonly external: boolean;
  readonly approval: "none" | "required";
  readonly exposure: ToolExposure;
  /** As it was given; `never` because only the definition knows which input its function takes. */
  readonly concurrency?: Concurrency | ((input: never) => Concurrency);
  readonly replay: "never" | "safe";
  readonly timeoutMs?: number | "unbounded";
  readonly effects?: ToolEffects;
  readonly injects: readonly InjectedArgument[];
  readonly maxUses?: number;
  readonly exposeErrors?: boolean;
}

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
   * Takes effect only with nested calls, which `limits.maxNestedDepth` turns on.
   *
   * @throws KeelError (as a rejection that may be left unhandled) when the call is refused, cut off or threw:
   * `TOOL_FAILED`, `TOOL_NOT_FOUND`, `TOOL_ERROR`, `VALIDATION`, `LIMIT_EXCEEDED`, `TIMEOUT`, `CANCELLED` (D-11 to D-13)
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
   * @throws KeelError `PART_NOT_EMITTED`, `PART_INVALID`, `VALUE_TOO_DEEP`
   */
  emit<In>(part: Part<string, unknown, In>, value: NoInfer<In>): void;
  /** Reports progress as a `tool.progress` event. Fields left out stay as they were. */
  progress(update: ProgressUpdate): void;
}

/** What a turn has left. */
export interface BudgetLeft {
  /** Model calls. */
  readonly stepsLeft: number;
  /** Milliseconds until the nearest deadline of the turn or its callers; `undefined` without one (NT-22). */
  readonly timeLeftMs: number | undefined;
  /** Tool calls. */
  readonly toolCallsLeft: number;
}

/** Options of `callTool`. */
export interface CallOptions {
  /** Drops the call when aborted: its own signal is aborted and the promise rejects with `TOOL_FAILED` (D-12). */
  readonly signal?: AbortSignal;
}

/** A report of {@link ToolContext.progress}. */
export interface ProgressUpdate {
  readonly message?: string;
  /** Units finished. */
  readonly done?: number;
  /** Units in all. */
  readonly total?: number;
}

/** How a call ended that was executed. */
export interface ToolResult<Value = Json> {
  /** Whether the tool reports its own failure. */
  readonly isError: boolean;
  /** What a model reads: `value` as JSON text, or the text that the tool gave. */
  readonly text: string;
  /** What the tool returned; absent when it gave only text. */
  readonly value?: Value;
  /** For the host and the calling tool; a model never sees it. */
  readonly metadata?: Json;
}

/** Says more about a result than its value. For `execute` to return. */
export function toolResult(options: ToolResultOptions): ToolReply;

/** Reports that the tool failed: the model reads exactly `message`. For `execute` to return. */
export function toolError(message: string): ToolReply;

/** Options of {@link toolResult}. */
export interface ToolResultOptions {
  /** The result, any JSON. */
  readonly value?: unknown;
  /**
   * What the model reads.
   * @default `value` as JSON text
   */
  readonly text?: string;
  /** @default false */
  readonly isError?: boolean;
  /** For the host; a model never sees it. It appears in `tool.completed`. */
  readonly metadata?: unknown;
}

/** What {@link toolResult} and {@link toolError} make. */
export interface ToolReply extends ToolResultOptions {
  readonly kind: "tool-result";
}
