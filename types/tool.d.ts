/** Tools: what a model, or another tool, can call. */

import type { AccessRule } from "./access.js";
import type { ToolContext } from "./context.js";
import type { KeelError } from "./error.js";
import type { NestedCallsMetadata } from "./event.js";
import type { AnySchema, Awaitable, InferInput, InferOutput, Json, Schema } from "./schema.js";

/**
 * Defines a tool. `execute` receives what the input schema hands on; its arguments have passed the schema before it is entered (D-26).
 * A schema with code of its own (a refinement, a transform) is asked at most once about the same arguments of a call. It may be asked about
 * a call that another gate refuses: it should look at values and do nothing else.
 *
 * @throws KeelError `ACCESS_MISSING`, `ID_INVALID`, `SCHEMA_NOT_CONVERTIBLE`, `SCHEMA_INVALID`, `OPTION_UNKNOWN`, `OPTION_INVALID` (NT-8, NT-9)
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
      /**
       * `true`: schema only, the host supplies the result. A call of the model is pending until `resume` brings `{ result }` (D-31); a nested one is
       * refused.
       */
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
   * `"required"`: a human decides each call, not the model (D-31): `approve` is asked, and where it defers or is absent the call is pending. A nested call
   * is refused before anybody is asked.
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
  /**
   * Milliseconds for one call, a positive whole number, within `limits.toolTimeout` (D-20). Running out answers the call with an error; it does not end
   * the turn.
   */
  readonly timeoutMs?: number | "unbounded";
  /** What the tool does to the world: a declaration, enforced by nobody, for `toolPolicy` and `planMode` to be given by tool id. */
  readonly effects?: ToolEffects;
  /** Arguments that the host sets; callers neither see nor can forge them. Nested calls to such a tool run one at a time. */
  readonly injects?: readonly InjectedArgument[];
  /** How often one turn may call the tool, its model and its tools together; a positive whole number. Further calls are refused. */
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

/** What a tool does to the world. */
export interface ToolEffects {
  /** Changes nothing. */
  readonly readOnly?: boolean;
  /** Writes files. */
  readonly writesFiles?: boolean;
  /** Opens connections. */
  readonly network?: boolean;
  /** Installs packages. */
  readonly installsDependencies?: boolean;
  /** Deletes or overwrites what cannot be had back. */
  readonly destructive?: boolean;
  /** Changes something in somebody else's system. */
  readonly externalService?: boolean;
  /** Spends money. */
  readonly payment?: boolean;
  /**
   * Whether it has to work in a sandbox.
   * @default "inherit"
   */
  readonly sandbox?: "inherit" | "disabled" | "required";
}

/** One argument that the host sets, whatever the caller sent under that name. */
export interface InjectedArgument {
  /** The argument's name; it is dropped from the schema that the model sees. */
  readonly name: string;
  /** A value of `createKeel({ injected })`, or the id of the call, which of a nested call is the nested id. */
  readonly from: "host" | "toolCallId";
}

/**
 * A defined tool; frozen. `In` is what `execute` receives, `Out` what it answers, `Args` what a caller passes, before defaults and transforms.
 */
export interface Tool<In = unknown, Out = unknown, Args = In> {
  /** The brand of definitions. */
  readonly kind: "tool";
  /** The name that the model calls. */
  readonly id: string;
  /** Told to the model. */
  readonly description?: string;
  /** The schema of its arguments. */
  readonly input: Schema<In, Args>;
  /** The schema of its result. */
  readonly output?: Schema<Out, unknown>;
  /** Who may call it (NT-33). */
  readonly access: AccessRule;
  /** Absent for an external tool and for one made by `asTool`. */
  execute?(input: In, context: ToolContext): unknown;
  /** Whether the host supplies the result (D-31). */
  readonly external: boolean;
  /** Whether a human decides each call. */
  readonly approval: "none" | "required";
  /** Who finds it (D-21). */
  readonly exposure: ToolExposure;
  /** As it was given; `never` because only the definition knows which input its function takes. */
  readonly concurrency?: Concurrency | ((input: never) => Concurrency);
  /** Whether it may be executed again after a crash. */
  readonly replay: "never" | "safe";
  /** Milliseconds for one call, as given (D-20). */
  readonly timeoutMs?: number | "unbounded";
  /** What it does to the world. */
  readonly effects?: ToolEffects;
  /** Arguments that the host sets. Empty when none were given. */
  readonly injects: readonly InjectedArgument[];
  /** How often one turn may call it. */
  readonly maxUses?: number;
  /** Whether a model sees what it threw; absent: as the keel says (D-11). */
  readonly exposeErrors?: boolean;
}

/** How a call ended that was executed. */
export interface ToolResult<Value = Json> {
  /** Whether the tool reports its own failure. */
  readonly isError: boolean;
  /** What a model reads: `value` as JSON text, or the text that the tool gave. */
  readonly text: string;
  /** What the tool returned; absent when it gave only text. */
  readonly value?: Value;
  /** For the host and the calling tool; a model never sees it. Holds `nested_calls` when the tool called others, see {@link NestedCallsMetadata}. */
  readonly metadata?: Json;
}

/** Says more about a result than its value. For `execute` to return. */
export function toolResult(options: ToolResultOptions): ToolReply;

/** Reports that the tool failed: the model reads exactly `message`. For `execute` to return or to throw. */
export function toolError(message: string): KeelError & ToolReply;

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
  /** What the tool asks of the turn that called it. */
  readonly control?: ToolControl;
}

/**
 * Requests of a tool to the turn whose model called it. They take effect once the other calls of the step have settled, unless the result is an error;
 * a contract that is not fulfilled still asks for its deliverable. Those of a nested call are ignored, as are those that a `wrapTool` layer leaves out.
 */
export interface ToolControl {
  /** The result's text is the turn's answer, without another step. */
  readonly returnDirect?: boolean;
  /** The turn ends without another step; its text stays what the model said last. */
  readonly terminate?: boolean;
  /** What comes next: `"end"` is the same as `terminate`, the others are what happens anyway. */
  readonly goto?: "model" | "tools" | "end";
}

/** What {@link toolResult} and {@link toolError} make. */
export interface ToolReply extends ToolResultOptions {
  /** The brand of replies, so that a tool may return any other object as its value. */
  readonly kind: "tool-result";
}
