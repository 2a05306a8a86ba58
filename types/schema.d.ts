/**
 * Schemas: what the caller may hand over and which TypeScript type follows from it.
 * Structural types only, so that any major of any Standard Schema library fits and none has to be installed.
 */

/** Any value that survives `JSON.stringify` unchanged; what payloads are made of where no schema says more. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/**
 * A schema object of zod (3.25 and later, 4, mini), valibot, arktype or any other library that follows
 * Standard Schema version 1. `In` is what it accepts, `Out` what it hands on after defaults and transforms.
 * The model sees its JSON Schema (input side); the value that the model sends is then also parsed by the schema itself (D-26).
 */
export interface StandardSchemaV1<In = unknown, Out = In> {
  /** The properties that Standard Schema prescribes. */
  readonly "~standard": {
    /** The version of the Standard Schema specification. */
    readonly version: 1;
    /** The library's name, such as `"zod"`; it selects the converter to JSON Schema (D-27). */
    readonly vendor: string;
    /** Parses a value; never throws for an invalid one. */
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>;
    /** Exists for the type checker only. */
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
}

/** What a Standard Schema answers: the parsed value, or the issues. */
export type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One complaint of a Standard Schema. */
export interface StandardIssue {
  /** What is wrong, in the library's words. */
  readonly message: string;
  /** The keys that lead from the root to the offending value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A plain JSON Schema, draft 2020-12, as an object. The Rust validator checks values against it; it applies no defaults (D-26).
 * Throws at definition: `SCHEMA_INVALID` when it does not compile.
 */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Whatever stands for a schema in an option: a Standard Schema or a plain JSON Schema. */
export type AnySchema = StandardSchemaV1 | JsonSchema;

/**
 * The type of a value after the schema has parsed it: what a tool's `execute` receives, what a deliverable is.
 * A plain JSON Schema of an object gives `Record<string, unknown>`, any other {@link Json}.
 */
export type InferOutput<S extends AnySchema> = S extends StandardSchemaV1
  ? NonNullable<S["~standard"]["types"]>["output"]
  : InferJson<S>;

/** The type of a value before the schema has parsed it: fields with a default are optional here. */
export type InferInput<S extends AnySchema> = S extends StandardSchemaV1
  ? NonNullable<S["~standard"]["types"]>["input"]
  : InferJson<S>;

type InferJson<S> = S extends { readonly type: "object" } ? Record<string, unknown> : Json;

/** A schema as a definition carries it. Made at definition time, once; `Out` and `In` are the types after and before parsing. */
export interface Schema<Out = unknown, In = Out> {
  /** The JSON Schema that the model is shown: the input side (BL-119). */
  readonly json: JsonSchema;
  /** `json` as JSON text. */
  readonly text: string;
  /** The Standard Schema it was made from; absent for a plain JSON Schema. */
  readonly standard?: StandardSchemaV1<In, Out>;
}
