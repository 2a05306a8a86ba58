/** Agents, and what they read. */

import type { AccessRule } from "./access.js";
import type { TurnContext } from "./context.js";
import type { Budget, Limits } from "./limits.js";
import type { Middleware } from "./middleware.js";
import type { LanguageModel, ModelOptions } from "./model.js";
import type { Part } from "./part.js";
import type { Awaitable } from "./schema.js";
import type { Tool } from "./tool.js";

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
  /** What the agent is for; the default description of the tool that `asTool` makes. */
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
  /** The scopes that the agent may use, of the identity's and within `narrow`; none when absent. They bind this agent, not those that it calls (NT-32). */
  readonly grants?: readonly string[];
  /** What each turn of the agent is granted. */
  readonly budget?: Budget;
  /** How turns of the agent behave. It may only lower what binds the whole tree (D-18). */
  readonly limits?: Limits;
  /** Hooks for turns of the agent, inside those of keel and run; not for the turns below them (D-16). */
  readonly middleware?: readonly Middleware[];
}

/** A defined agent; frozen. `Emits` is the union of its parts. */
export interface Agent<Emits extends Part = Part> {
  /** The brand of definitions. */
  readonly kind: "agent";
  /** Names the agent in records, events and messages. */
  readonly id: string;
  /** What it is for. */
  readonly description?: string;
  /** The model that takes the steps. */
  readonly model: LanguageModel;
  /** Settings sent with every model call. */
  readonly modelOptions?: ModelOptions;
  /** The system message, or the function that makes it. */
  readonly instructions?: string | ((context: TurnContext) => Awaitable<string>);
  /** What it may call; a function until first use (D-29). Empty when none were given. */
  readonly tools: readonly Tool[] | (() => readonly Tool[]);
  /** Its parts. Empty when none were given. */
  readonly emits: readonly Emits[];
  /** Its sources. Empty when none were given. */
  readonly reads: readonly Source[];
  /** The scopes that it may use. Empty when none were given (NT-32). */
  readonly grants: readonly string[];
  /** As given; defaults are filled in per turn (D-18). */
  readonly budget?: Budget;
  /** As given; defaults are filled in per turn (D-18). */
  readonly limits?: Limits;
  /** Its hooks. Empty when none were given. */
  readonly middleware: readonly Middleware[];
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
  /** The brand of definitions. */
  readonly kind: "source";
}
