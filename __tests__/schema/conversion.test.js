import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod3";
import { z as z34 } from "zod3/v4";

import { defineTool } from "../../js/definitions/tool.js";
import { compile, toInputSchema, toSchema } from "../../js/schema/to-schema.js";

/** @param {any} schema @param {unknown} value */
const coreAccepts = (schema, value) =>
  compile(toSchema(schema, "test"), "test").validate(JSON.stringify(value)) === null;

/** @param {any} schema @param {unknown} value */
const libraryAccepts = async (schema, value) => !(await schema["~standard"].validate(value)).issues;

/** @param {any} schema */
const jsonOf = (schema) => toSchema(schema, "test").json;

/** The vocabularies of zod that share their words. */
const zods = /** @type {[string, any][]} */ ([
  ["zod 4", z],
  ["zod/v4 of zod 3", z34],
  ["zod 3", z3],
]);

describe("BL-123 one tool with the schema of each library", () => {
  const schemas = {
    "zod 3": z3.object({ q: z3.string(), n: z3.number().default(3) }),
    "zod/v4 of zod 3": z34.object({ q: z34.string(), n: z34.number().default(3) }),
    "zod 4": z.object({ q: z.string(), n: z.number().default(3) }),
    "zod/mini": mini.object({ q: mini.string(), n: mini._default(mini.number(), 3) }),
    valibot: v.object({ q: v.string(), n: v.optional(v.number(), 3) }),
    arktype: type({ q: "string", n: "number = 3" }),
    "plain JSON Schema": {
      type: "object",
      properties: { q: { type: "string" }, n: { type: "number" } },
      required: ["q"],
    },
  };
  for (const [name, input] of Object.entries(schemas)) {
    test(`BL-123 D-27 ${name} converts and validates`, async () => {
      const tool = defineTool({ id: "search", access: "public", input, execute: () => 1 });
      const { json, standard } = tool.input;
      assert.equal(json.type, "object");
      assert.equal(json.properties.q.type, "string");
      assert.equal(json.properties.n.type, "number");
      assert.deepEqual(json.required, ["q"]);
      assert.equal("$schema" in json, false);
      assert.ok(coreAccepts(input, { q: "x" }));
      assert.ok(!coreAccepts(input, { q: 1 }));
      assert.ok(!coreAccepts(input, {}));
      if (standard) assert.deepEqual((await standard["~standard"].validate({ q: "x" })).value, { q: "x", n: 3 });
    });
  }
});

describe("conversion", () => {
  for (const [name, Z] of zods) {
    test(`BL-119 ${name}: the exported schema is the input side`, async () => {
      const schema = Z.object({
        date: Z.string().transform((/** @type {string} */ text) => new Date(text)),
        length: Z.string()
          .transform((/** @type {string} */ text) => text.length)
          .pipe(Z.number()),
        limit: Z.number().default(10),
        trimmed: Z.preprocess((/** @type {unknown} */ value) => String(value).trim(), Z.string()),
        when: Z.coerce.date(),
      });
      const { properties, required } = jsonOf(schema);
      assert.equal(properties.date.type, "string");
      assert.equal(properties.length.type, "string");
      assert.equal(properties.limit.type, "number");
      assert.equal(properties.limit.default, 10);
      assert.equal(properties.trimmed.type, "string");
      assert.deepEqual(properties.when, { type: "string", format: "date-time" });
      assert.equal(required.includes("limit"), false);
      const value = { date: "2026-01-01", length: "four", trimmed: 5, when: "2026-01-01" };
      assert.ok(coreAccepts(schema, value));
      const result = await schema["~standard"].validate(value);
      assert.equal(result.value.length, 4);
      assert.equal(result.value.limit, 10);
      assert.ok(result.value.date instanceof Date);
    });

    test(`BL-118 ${name}: records export no propertyNames, and their keys are still checked`, async () => {
      const schemas = {
        words: Z.record(Z.string().min(2), Z.number()),
        choices: Z.record(Z.enum(["a", "b"]), Z.number()),
      };
      const schema = Z.object(schemas);
      assert.equal(toSchema(schema, "test").text.includes("propertyNames"), false);
      assert.deepEqual(Object.keys(jsonOf(schema).properties.choices.properties), ["a", "b"]);
      assert.ok(await libraryAccepts(schema, { words: { ab: 1 }, choices: { a: 1, b: 2 } }));
      assert.ok(!(await libraryAccepts(schema, { words: { a: 1 }, choices: { a: 1, b: 2 } })));
      assert.ok(!(await libraryAccepts(schema, { words: {}, choices: { a: 1, b: 2, c: 3 } })));
    });

    test(`BL-121 ${name}: a recursive union with descriptions terminates as references`, () => {
      /** @type {any} */
      const nested = Z.lazy(() => Z.union([Z.string(), Z.array(nested)]).describe("text, or lists of it"));
      const schema = Z.object({ nested });
      assert.match(toSchema(schema, "test").text, /"\$ref":"#\//);
      assert.ok(coreAccepts(schema, { nested: ["a", ["b", []]] }));
    });

    test(`NT-09 ${name}: what JSON has no value for breaks the definition, by place`, () => {
      const input = Z.object({ from: Z.object({ when: Z.date() }) });
      assert.throws(() => defineTool({ id: "book", access: "public", input, execute: () => 1 }), {
        code: "SCHEMA_NOT_CONVERTIBLE",
        message: /tool "book": input: .*\/properties\/from\/properties\/when.*z\.coerce\.date\(\)/,
      });
      assert.ok(jsonOf(Z.object({ when: Z.preprocess((/** @type {any} */ text) => new Date(text), Z.date()) })));
    });
  }

  test("BL-118 plain JSON Schema: propertyNames leaves the exported schema and stays in validation", () => {
    const schema = { type: "object", propertyNames: { pattern: "^a" }, additionalProperties: { type: "number" } };
    assert.equal(toSchema(schema, "test").text.includes("propertyNames"), false);
    assert.ok(coreAccepts(schema, { ab: 1 }));
    assert.ok(!coreAccepts(schema, { b: 1 }));
  });

  test("BL-121 a schema that makes itself anew on every look gives a typed error", () => {
    /** @type {any} */
    const endless = z3.lazy(() => z3.array(endless.describe("again")));
    assert.throws(() => toSchema(z3.object({ endless }), "test"), {
      code: "SCHEMA_NOT_CONVERTIBLE",
      message: /recurses without end/,
    });
  });

  test("BL-121 getter-style recursion becomes references", () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    assert.deepEqual(jsonOf(node).properties.children.items, { $ref: "#" });
    assert.ok(coreAccepts(node, { name: "a", children: [{ name: "b", children: [] }] }));
    assert.ok(!coreAccepts(node, { name: "a", children: [{ children: [] }] }));
  });

  test("BL-123 zod 3: tuples and shared schemas become 2020-12 with references that lead somewhere", () => {
    const shared = z3.object({ a: z3.string() });
    const schema = z3.object({ pair: z3.tuple([shared, z3.number()]), "p/q": shared });
    const { properties } = jsonOf(schema);
    assert.equal(properties.pair.prefixItems.length, 2);
    assert.equal(properties["p/q"].$ref, "#/properties/pair/prefixItems/0");
    assert.ok(coreAccepts(schema, { pair: [{ a: "x" }, 1], "p/q": { a: "y" } }));
    assert.ok(!coreAccepts(schema, { pair: [{ a: "x" }, 1], "p/q": { a: 1 } }));
  });

  test("D-27 ~standard.jsonSchema is asked first, whatever the library", () => {
    const own = {
      "~standard": {
        version: 1,
        vendor: "someone",
        validate: (/** @type {any} */ value) => ({ value }),
        jsonSchema: { input: () => ({ type: "object", properties: { a: { type: "string" } } }), output: () => ({}) },
      },
    };
    assert.deepEqual(jsonOf(own), { type: "object", properties: { a: { type: "string" } } });
    assert.ok(coreAccepts(own, { a: 1 }), "of a library that is not known, only the top level is trusted");
  });

  test("D-27 a schema without any conversion says what to do", () => {
    const none = {
      "~standard": { version: 1, vendor: "someone", validate: (/** @type {any} */ value) => ({ value }) },
    };
    assert.throws(() => toSchema(none, 'tool "x": input'), {
      code: "SCHEMA_NOT_CONVERTIBLE",
      message: /^tool "x": input: the someone schema/,
    });
    assert.throws(() => toSchema(v.object({ d: v.date() }), "test"), {
      code: "SCHEMA_NOT_CONVERTIBLE",
      message: /valibot.*date/,
    });
    assert.throws(() => toSchema(type({ d: "Date" }), "test"), {
      code: "SCHEMA_NOT_CONVERTIBLE",
      message: /arktype.*date/i,
    });
    for (const bad of [undefined, null, "string", 1, []])
      assert.throws(() => toSchema(bad, "test"), { code: "SCHEMA_INVALID" });
  });

  test("BL-050 alternatives of objects have type object at the top and in each branch", () => {
    const branches = [z.object({ t: z.literal("a") }), z.object({ t: z.literal("b"), n: z.number() })];
    for (const schema of [
      z.discriminatedUnion("t", /** @type {any} */ (branches)),
      z.union(branches),
      v.variant("t", [v.object({ t: v.literal("a") })]),
    ]) {
      const json = toInputSchema(schema, "test").json;
      assert.equal(json.type, "object");
      for (const branch of json.anyOf ?? json.oneOf) assert.equal(branch.type, "object");
    }
    const literals = jsonOf(v.object({ u: v.union([v.literal("a"), v.literal(2)]) }));
    assert.deepEqual(literals.properties.u.anyOf, [
      { const: "a", type: "string" },
      { const: 2, type: "number" },
    ]);
  });
});
