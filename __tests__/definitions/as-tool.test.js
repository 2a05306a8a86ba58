import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { defineAgent, resolveTools } from "../../js/definitions/agent.js";
import { asTool } from "../../js/definitions/as-tool.js";
import { contractFor } from "../../js/definitions/contract.js";
import { definePart } from "../../js/definitions/part.js";
import { defineTool } from "../../js/definitions/tool.js";
import { compile } from "../../js/schema/to-schema.js";

const model = { id: "none", generate: async () => ({ text: "" }) };
const schema = { type: "object", properties: { summary: { type: "string" } }, required: ["summary"] };
const findings = definePart({ name: "findings", schema, persist: "content" });
const draft = definePart({ name: "draft", schema });

/** @param {string} id */
const tool = (id) => defineTool({ id, access: "public", input: { type: "object" }, execute: () => 1 });

/** @param {object} [options] */
const agent = (options) => defineAgent({ id: "researcher", model, emits: [findings, draft], ...options });

describe("gates", () => {
  test("NT-05 the deliverable has to be in the child's emits", () => {
    assert.equal(asTool(agent(), { deliverable: findings }).delegation.contract.part, findings);
    assert.throws(() => asTool(agent({ emits: [draft] }), { deliverable: findings }), {
      code: "DELIVERABLE_NOT_EMITTED",
      message: /part "findings".*emits of agent "researcher", found: "draft"/,
    });
    const twin = definePart({ name: "findings", schema, persist: "content" });
    assert.throws(() => asTool(agent(), { deliverable: twin }), {
      code: "DELIVERABLE_NOT_EMITTED",
      message: /not this one/,
    });
  });

  test('NT-06 the deliverable has to be declared with persist: "content"', () => {
    assert.throws(() => asTool(agent(), { deliverable: draft }), {
      code: "DELIVERABLE_NOT_CONTENT",
      message: /part "draft".*found "ephemeral"/,
    });
  });

  test("NT-07 the child carries no tool with the id of the submit tool", () => {
    assert.ok(asTool(agent({ tools: [tool("submit_finding"), tool("submit_findings2")] }), { deliverable: findings }));
    assert.ok(asTool(agent({ tools: [tool("submit_findings")] })), "without a contract the id is free");
    assert.throws(() => asTool(agent({ tools: [tool("submit_findings")] }), { deliverable: findings }), {
      code: "SUBMIT_TOOL_TAKEN",
      message: /agent "researcher".*"submit_findings"/,
    });
  });

  test("NT-07 D-29 tools given as a function are held against the contract when they are first used", () => {
    const child = agent({ tools: () => [tool("submit_findings")] });
    const caller = defineAgent({ id: "assistant", model, tools: [asTool(child, { deliverable: findings })] });
    assert.throws(() => resolveTools(caller), { code: "SUBMIT_TOOL_TAKEN" });
    assert.throws(
      () => resolveTools(caller),
      { code: "SUBMIT_TOOL_TAKEN" },
      "a failed check is not remembered as passed",
    );
    assert.equal(resolveTools(child).length, 1, "the child by itself is fine");
    assert.throws(
      () => asTool(child, { deliverable: findings }),
      { code: "SUBMIT_TOOL_TAKEN" },
      "now the list is known",
    );
  });

  test("D-30 contractFor applies the same gates and nudge rules for a root", () => {
    assert.deepEqual(contractFor(agent(), findings, "run"), { part: findings, nudges: 1 });
    assert.deepEqual(contractFor(agent(), { part: findings, nudges: 0 }, "run"), { part: findings, nudges: 0 });
    assert.throws(() => contractFor(agent(), draft, "run"), { code: "DELIVERABLE_NOT_CONTENT", message: /^run/ });
  });
});

describe("options", () => {
  test("NT-11 unset options have the documented defaults", () => {
    const made = asTool(agent());
    const { delegation } = made;
    assert.equal(made.id, "run-researcher");
    assert.equal(made.access, "public");
    assert.equal(made.concurrency, "shared");
    assert.equal(delegation.retries, 0);
    assert.equal(delegation.onError, "feedback");
    assert.deepEqual(delegation.forward, { progress: false, parts: [] });
    assert.equal("contract" in delegation, false);
    assert.equal("budget" in delegation, false);
    assert.deepEqual(made.input.json, {
      type: "object",
      properties: { brief: { type: "string" } },
      required: ["brief"],
      additionalProperties: false,
    });
  });

  test("NT-11 a plain deliverable grants one nudge round, { part, nudges } sets the number", () => {
    assert.equal(asTool(agent(), { deliverable: findings }).delegation.contract.nudges, 1);
    assert.equal(asTool(agent(), { deliverable: { part: findings } }).delegation.contract.nudges, 1);
    assert.equal(asTool(agent(), { deliverable: { part: findings, nudges: 3 } }).delegation.contract.nudges, 3);
  });

  test("BL-004 unknown keys of the default input never reach the delegation", async () => {
    const { input } = asTool(agent(), { budget: { steps: 4 } });
    const args = { brief: "go", maxSteps: 50, budget: { steps: 50 } };
    assert.equal(compile(input).validate(JSON.stringify(args)), null);
    assert.deepEqual(await input.standard["~standard"].validate(args), { value: { brief: "go" } });
    assert.notEqual(compile(input).validate("{}"), null);
    for (const bad of [{}, { brief: 1 }, null, []]) assert.ok((await input.standard["~standard"].validate(bad)).issues);
  });

  for (const steps of ["5", 5.5, 0, -1, NaN, Infinity, 1e21, null]) {
    test(`BL-005 budget.steps ${typeof steps === "string" ? `"${steps}"` : steps} is refused where the connection is made`, () => {
      assert.throws(() => asTool(agent(), { budget: { steps } }), {
        code: "BUDGET_INVALID",
        message: /agent "researcher": budget\.steps: expected a positive whole number, found/,
      });
    });
  }

  test("BL-005 budget.steps 5 is taken", () => {
    assert.deepEqual(asTool(agent(), { budget: { steps: 5 } }).delegation.budget, { steps: 5 });
  });

  for (const bad of [-1, 0.5, "1", NaN, null]) {
    test(`NT-09 retries and nudges refuse ${bad}`, () => {
      assert.throws(() => asTool(agent(), { retries: bad }), { code: "OPTION_INVALID", message: /retries/ });
      assert.throws(() => asTool(agent(), { deliverable: { part: findings, nudges: bad } }), {
        code: "OPTION_INVALID",
        message: /nudges/,
      });
    });
  }

  test("NT-09 unknown option names are refused with the closest known one", () => {
    assert.throws(() => asTool(agent(), { deliverabel: findings }), {
      code: "OPTION_UNKNOWN",
      message: /"deliverabel"; did you mean "deliverable"\?/,
    });
    assert.throws(() => asTool(agent(), { budget: { stepps: 1 } }), {
      code: "OPTION_UNKNOWN",
      message: /budget: .*"steps"/,
    });
    assert.throws(() => asTool(agent(), { forward: { part: [] } }), { code: "OPTION_UNKNOWN", message: /"parts"/ });
    assert.throws(() => asTool(agent(), { deliverable: { part: findings, nudge: 1 } }), {
      code: "OPTION_UNKNOWN",
      message: /"nudges"/,
    });
  });

  test("NT-09 forwarded parts have to be among those that the child emits", () => {
    assert.deepEqual(asTool(agent(), { forward: { parts: [draft] } }).delegation.forward, {
      progress: false,
      parts: [draft],
    });
    const foreign = definePart({ name: "foreign", schema });
    assert.throws(() => asTool(agent(), { forward: { parts: [foreign] } }), {
      code: "PART_NOT_EMITTED",
      message: /"foreign"/,
    });
  });

  test("NT-09 other values that cannot be are refused", () => {
    assert.throws(() => asTool(/** @type {any} */ ({})), {
      code: "OPTION_INVALID",
      message: /an agent made with defineAgent/,
    });
    assert.throws(() => asTool(agent(), { onError: "retry" }), { code: "OPTION_INVALID" });
    assert.throws(() => asTool(agent(), { access: null }), { code: "ACCESS_MISSING" });
    assert.throws(() => asTool(agent(), { narrow: {} }), { code: "OPTION_INVALID" });
    assert.throws(() => asTool(agent(), { id: "run researcher" }), { code: "ID_INVALID" });
    assert.throws(() => asTool(agent(), { input: { type: "string" } }), { code: "SCHEMA_INVALID" });
    assert.throws(() => asTool(agent(), { deliverable: agent() }), {
      code: "OPTION_INVALID",
      message: /a part made with definePart/,
    });
  });

  test("D-14 an agent's id leaves room for the id of its tool", () => {
    const id = "a".repeat(60);
    assert.equal(asTool(defineAgent({ id, model })).id.length, 64);
    assert.throws(() => defineAgent({ id: `${id}a`, model }), { code: "ID_INVALID", message: /at most 60/ });
  });

  test("BL-050 every form of the tool's schema has type object at the top and a type in every branch", () => {
    const custom = { anyOf: [{ properties: { a: { type: "string" } } }, { type: "object", required: ["b"] }] };
    for (const options of [
      {},
      { input: custom },
      { deliverable: findings },
      { input: { anyOf: [{ required: ["a"] }], type: "object" } },
    ]) {
      const { json } = asTool(agent(), options).input;
      assert.equal(json.type, "object");
      for (const branch of json.anyOf ?? []) assert.equal(branch.type, "object");
    }
  });
});
