import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { z } from "zod";

import { definePart, submitSchema } from "../../js/definitions/part.js";
import { defineTool } from "../../js/definitions/tool.js";
import { compile, toInputSchema, toSchema } from "../../js/schema/to-schema.js";

/** @param {any} schema @param {unknown} value */
const coreAccepts = (schema, value) =>
  compile(toSchema(schema, "test"), "test").validate(JSON.stringify(value)) === null;

describe("plain JSON Schemas", () => {
  test("NT-09 references stay inside the schema", () => {
    assert.ok(
      coreAccepts(
        { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } },
        { a: "x" },
      ),
    );
    for (const $ref of ["https://example.com/schema.json", "other.json", "other.json#/$defs/a", "//example.com/a"]) {
      assert.throws(() => toSchema({ type: "object", properties: { a: { $ref } } }, "test"), {
        code: "SCHEMA_INVALID",
        message: /\$ref at \/properties\/a/,
      });
    }
    const lookalike = {
      type: "object",
      properties: { $ref: { type: "string", default: { $ref: "https://example.com" } } },
    };
    assert.ok(coreAccepts(lookalike, { $ref: "x" }));
    assert.throws(
      () => compile(toSchema({ type: "object", properties: { a: { $ref: "#/$defs/none" } } }, "test"), "test"),
      { code: "SCHEMA_INVALID" },
    );
  });

  test("BL-121 cycles of references that go into the value work, in lengths 1, 2 and 3", () => {
    const one = { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false };
    assert.ok(coreAccepts(one, { next: { next: {} } }));
    assert.ok(!coreAccepts(one, { next: { other: 1 } }));
    for (const names of [
      ["a", "b"],
      ["a", "b", "c"],
    ]) {
      const $defs = Object.fromEntries(
        names.map((name, i) => [
          name,
          {
            type: "object",
            properties: { next: { $ref: `#/$defs/${names[(i + 1) % names.length]}` } },
            additionalProperties: false,
          },
        ]),
      );
      const schema = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs };
      assert.ok(coreAccepts(schema, { a: { next: { next: { next: {} } } } }));
      assert.ok(!coreAccepts(schema, { a: { next: { next: { next: { other: 1 } } } } }));
    }
  });

  test("BL-121 cycles of references that never go into the value are refused, in lengths 1, 2 and 3", () => {
    for (const names of [["a"], ["a", "b"], ["a", "b", "c"]]) {
      const $defs = Object.fromEntries(
        names.map((name, i) => [name, { anyOf: [{ $ref: `#/$defs/${names[(i + 1) % names.length]}` }] }]),
      );
      assert.throws(() => toSchema({ type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs }, "test"), {
        code: "SCHEMA_INVALID",
        message: /comes back to itself without end/,
      });
    }
  });

  test("BL-121 a schema nested 50 levels is taken, one nested 10,000 levels gives a typed error", () => {
    const nest = (/** @type {number} */ depth) => {
      /** @type {any} */
      let schema = { type: "string" };
      for (let i = 0; i < depth; i++) schema = { type: "array", items: schema };
      return { type: "object", properties: { a: schema } };
    };
    assert.ok(coreAccepts(nest(50), {}));
    assert.throws(() => toSchema(nest(10_000), "test"), { code: "SCHEMA_INVALID" });
  });

  test("NT-09 what JSON cannot carry is refused", () => {
    /** @type {any} */
    const circular = { type: "object" };
    circular.properties = { circular };
    for (const bad of [circular, { type: "object", minProperties: 1n }])
      assert.throws(() => toSchema(bad, "test"), { code: "SCHEMA_INVALID" });
  });

  test("NT-09 a tool's input is an object at the top; the type may be left out where there are properties", () => {
    assert.equal(toInputSchema({ properties: { a: {} } }, "test").json.type, "object");
    assert.ok(!coreAccepts({ properties: { b: {} } }, "text"));
    for (const bad of [{ type: "string" }, { type: ["object", "null"] }, z.string(), z.array(z.string()), z.any()]) {
      assert.throws(() => toInputSchema(bad, "test"), { code: "SCHEMA_INVALID", message: /type "object" at the top/ });
    }
  });

  test("NT-04 a schema is taken as it is when it is given, once", () => {
    const given = { type: "object", properties: { a: { type: "string" } } };
    const schema = toSchema(given, "test");
    given.properties.a.type = "number";
    assert.equal(schema.json.properties.a.type, "string");
    assert.equal(toSchema(given, "test"), schema);
    assert.equal(compile(schema), compile(schema));
  });
});

describe("submit schemas", () => {
  test("D-15 a part that is an object is submitted as it is, any other as { value }", async () => {
    const object = submitSchema(definePart({ name: "o", schema: z.object({ a: z.string() }) }));
    assert.equal(object.wrapped, false);
    assert.equal(object.schema.json.properties.a.type, "string");
    for (const schema of [z.string(), { type: "string" }]) {
      const text = submitSchema(definePart({ name: "t", schema }));
      assert.equal(text.wrapped, true);
      assert.deepEqual(text.schema.json, {
        type: "object",
        properties: { value: { type: "string" } },
        required: ["value"],
        additionalProperties: false,
      });
      assert.equal(compile(text.schema).validate('{"value":"x"}'), null);
      assert.notEqual(compile(text.schema).validate('{"value":1}'), null);
    }
  });

  test("D-15 a wrapped Standard Schema still validates, transforms and names paths", async () => {
    const { schema } = submitSchema(definePart({ name: "l", schema: z.array(z.string().transform(Number)) }));
    assert.deepEqual(await schema.standard["~standard"].validate({ value: ["1"] }), { value: { value: [1] } });
    const { issues } = await schema.standard["~standard"].validate({ value: ["1", 2] });
    assert.deepEqual(issues[0].path, ["value", 1]);
  });

  test("D-15 references keep their meaning one level deeper", () => {
    const tree = {
      type: "array",
      items: { anyOf: [{ $ref: "#" }, { $ref: "#/$defs/leaf" }] },
      $defs: { leaf: { type: "string" } },
    };
    const { schema } = submitSchema(definePart({ name: "tree", schema: tree }));
    assert.equal(compile(schema).validate('{"value":["a",["b",[]]]}'), null);
    assert.notEqual(compile(schema).validate('{"value":["a",[1]]}'), null);
  });
});

test("NT-09 an empty schema as a tool's input is any object", () => {
  const { input } = defineTool({ id: "any", access: "public", input: {}, execute: () => null });
  assert.deepEqual(input.json, { type: "object" });
});

test("NT-08 a missing access rule is told before anything else", () => {
  assert.throws(() => defineTool({ id: "open" }), { code: "ACCESS_MISSING" });
});
