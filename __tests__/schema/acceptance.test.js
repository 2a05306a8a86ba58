import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { z as z3 } from "zod3";
import { z as z34 } from "zod3/v4";

import { compile, toSchema } from "../../js/schema/to-schema.js";

/** @param {any} schema @param {unknown} value */
const coreAccepts = (schema, value) =>
  compile(toSchema(schema, "test"), "test").validate(JSON.stringify(value)) === null;

/** @param {any} schema @param {unknown} value */
const libraryAccepts = async (schema, value) => !(await schema["~standard"].validate(value)).issues;

/** The vocabularies of zod that share their words. */
const zods = /** @type {[string, any][]} */ ([
  ["zod 4", z],
  ["zod/v4 of zod 3", z34],
  ["zod 3", z3],
]);

describe("D-26 the core never refuses what a Standard Schema accepts", () => {
  const words = [
    "",
    "a",
    "b",
    "ab",
    " abc ",
    "12",
    "1.5",
    "true",
    "😀😀",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "A@B.co",
    "yes",
    "\ud800",
  ];
  const scalars = [...words, 0, 1, -1, 2, 5.5, 0.3, 1e21, true, false, null];
  const values = [
    ...scalars,
    [],
    {},
    ...scalars.map((value) => [value]),
    ...scalars.map((value) => ({ a: value })),
    { a: [] },
    { a: ["a", 1] },
    { a: { a: "a" } },
    { a: "a", b: "b", extra: 1 },
    { t: "a" },
    { t: "b", n: "1" },
    { t: "b", n: 1 },
    ["a", 1, 2],
    ["a", "a"],
    { a: [{ a: ["a"] }] },
    { a: "a", b: 2 },
    { b: "b" },
  ];

  /** @param {any} Z */
  const zodSchemas = (Z) => ({
    any: Z.object({ a: Z.any() }),
    unknown: Z.object({ a: Z.unknown() }),
    catch: Z.object({ a: Z.number().catch(1) }),
    default: Z.object({ a: Z.string().default("x"), b: Z.number().optional() }),
    coerced: Z.object({ a: Z.coerce.number() }),
    "coerced text": Z.object({ a: Z.coerce.string() }),
    "coerced optional": Z.object({ a: Z.coerce.boolean().optional() }),
    "coerced date": Z.object({ a: Z.coerce.date() }),
    "coerced alternative": Z.object({ a: Z.union([Z.coerce.number(), Z.string()]) }),
    "coerced or null": Z.object({ a: Z.coerce.number().nullable() }),
    preprocess: Z.object({ a: Z.preprocess((/** @type {unknown} */ value) => value ?? "x", Z.string()) }),
    "preprocess at the top": Z.preprocess(
      (/** @type {any} */ value) => (typeof value === "string" ? { a: value } : value),
      Z.object({ a: Z.string() }),
    ),
    transform: Z.object({ a: Z.string().transform(Number) }),
    trim: Z.object({ a: Z.string().trim().max(3) }),
    lengths: Z.object({ a: Z.string().min(3).max(4) }),
    flags: Z.object({ a: Z.string().regex(/^[^a-z]+$/i) }),
    lookahead: Z.object({ a: Z.string().regex(/^(?=.*2)(.)\d+/) }),
    email: Z.object({ a: Z.string().email() }),
    multiple: Z.object({ a: Z.number().multipleOf(0.1) }),
    integer: Z.array(Z.number().int()),
    strip: Z.object({ a: Z.string() }),
    strict: Z.object({ a: Z.string() }).strict(),
    "both strict": Z.intersection(Z.object({ a: Z.string() }), Z.object({ b: Z.string() })),
    discriminated: Z.discriminatedUnion("t", [
      Z.object({ t: Z.literal("a") }),
      Z.object({ t: Z.literal("b"), n: Z.coerce.number() }),
    ]),
    literals: Z.union([Z.literal("a"), Z.literal(1), Z.literal(null)]),
    tuple: Z.tuple([Z.string()]).rest(Z.number()),
    record: Z.record(Z.string(), Z.unknown()),
    "record of choices": Z.object({ a: Z.record(Z.enum(["a", "b"]), Z.any()) }),
    unique: Z.array(Z.string()).min(1),
    readonly: Z.object({ a: Z.string().readonly() }),
  });

  const schemas = {
    ...Object.fromEntries(
      zods.flatMap(([name, Z]) => Object.entries(zodSchemas(Z)).map(([word, schema]) => [`${name} ${word}`, schema])),
    ),
    "zod 4 stringbool": z.object({ a: z.stringbool() }),
    "zod 4 date by pipe": z.object({ a: z.iso.datetime().pipe(z.transform((text) => new Date(text))) }),
    "zod 4 undefined": z.object({ a: z.union([z.string(), z.undefined()]) }),
    "zod 4 exclusive": z.xor([z.object({ a: z.coerce.number() }), z.object({ b: z.string() })]),
    "zod 4 lazy": z.object({ a: z.lazy(() => z.any()) }),
    "zod 4 template": z.object({ a: z.templateLiteral([z.number()]) }),
    "valibot object": v.object({ a: v.optional(v.string()) }),
    "valibot fallback": v.object({ a: v.fallback(v.pipe(v.number(), v.minValue(2)), 2) }),
    "valibot fallback at the top": v.fallback(v.object({ a: v.string() }), { a: "x" }),
    "valibot pipe": v.object({ a: v.pipe(v.unknown(), v.transform(String), v.string()) }),
    "valibot regex": v.object({ a: v.pipe(v.string(), v.trim(), v.regex(/^A/i), v.maxLength(3)) }),
    "valibot tuple": v.tuple([v.string()]),
    "valibot record": v.record(v.string(), v.unknown()),
    "valibot variant": v.variant("t", [
      v.object({ t: v.literal("a") }),
      v.object({ t: v.literal("b"), n: v.unknown() }),
    ]),
    "arktype object": type({ "a?": "string" }),
    "arktype morph": type({ a: "string.numeric.parse" }),
    "arktype date": type({ a: "string.date.parse" }),
    "arktype default": type({ a: "string = 'x'", "b?": "number.integer" }),
    "arktype narrow": type({ a: type("string").narrow((text) => text.length > 1) }),
    "arktype any object": type("object"),
    "arktype alternatives": type({ t: "'a'" }).or({ t: "'b'", n: "number" }),
  };

  for (const [name, schema] of Object.entries(schemas)) {
    test(`D-26 ${name}`, async () => {
      let accepted = 0;
      for (const value of values) {
        if (!(await libraryAccepts(schema, value))) continue;
        accepted++;
        assert.ok(coreAccepts(schema, value), `${JSON.stringify(value)} with ${toSchema(schema, "test").checkText}`);
      }
      assert.ok(accepted > 0, "no value of the list fits this schema");
    });
  }
});
