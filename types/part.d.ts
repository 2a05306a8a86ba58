/** Parts: named, typed pieces of what an agent produces. */

import type { AnySchema, InferInput, InferOutput, Schema } from "./schema.js";

/**
 * Defines a part: something an agent may emit besides its text, or owe as a deliverable.
 *
 * @throws KeelError `ID_INVALID`, `SCHEMA_NOT_CONVERTIBLE`, `SCHEMA_INVALID`, `OPTION_UNKNOWN`, `OPTION_INVALID` (NT-9)
 */
export function definePart<const Name extends string, const S extends AnySchema>(
  options: PartOptions<Name, S>,
): Part<Name, InferOutput<S>, InferInput<S>>;

/** Options of {@link definePart}. */
export interface PartOptions<Name extends string, S extends AnySchema> {
  /** Letters, digits, `_` and `-`, starting with a letter or `_`; at most 57 characters, so that `submit_<name>` fits (D-14). */
  readonly name: Name;
  /**
   * What a value must look like. For a submit tool, a schema that is not an object is wrapped as `{ value }` (D-15). Values are kept as JSON: of
   * a transform to something else, such as a `Date`, its JSON form arrives (D-25).
   */
  readonly schema: S;
  /** Told to the model that has to produce the part. */
  readonly description?: string;
  /**
   * `"content"` keeps the values in the record and lets the part be a deliverable (NT-6, NT-36); `"ephemeral"` keeps them in events and results only.
   * @default "ephemeral"
   */
  readonly persist?: "content" | "ephemeral";
}

/** A defined part; frozen. `T` is the value it carries, `In` the value one may emit, before defaults and transforms. */
export interface Part<Name extends string = string, T = unknown, In = T> {
  /** The brand of definitions. */
  readonly kind: "part";
  /** Unique within an agent's `emits`. */
  readonly name: Name;
  /** Told to the model that has to produce it. */
  readonly description?: string;
  /** Whether values are kept in the record. */
  readonly persist: "content" | "ephemeral";
  /** What a value must look like. */
  readonly schema: Schema<T, In>;
}

/** The value that a part carries. */
export type PartOutput<P extends Part> = P extends Part<string, infer T, unknown> ? T : never;

/** An emitted part: a union discriminated by `part` when `P` is a union of parts. */
export type PartValue<P extends Part> = P extends Part
  ? {
      /** The part's name. */
      readonly part: P["name"];
      /** What was emitted, as its schema hands it on. */
      readonly value: PartOutput<P>;
    }
  : never;

/**
 * A contract on a turn: the part it owes. The plain form grants one nudge round; `{ part, nudges }` sets the number (NT-11).
 * A nudge round is one more step in which only the submit tool is offered; it comes on top of `budget.steps` (NT-18).
 */
export type Deliverable<P extends Part> = P | { readonly part: P; readonly nudges?: number };
