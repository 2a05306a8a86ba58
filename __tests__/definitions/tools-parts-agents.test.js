import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { defineAgent, resolveTools } from "../../js/definitions/agent.js";
import { asTool } from "../../js/definitions/as-tool.js";
import { definePart } from "../../js/definitions/part.js";
import { defineSource } from "../../js/definitions/source.js";
import { defineTool, offeredInput } from "../../js/definitions/tool.js";

const model = { id: "none", generate: async () => ({ text: "" }) };
const input = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };

/** @param {object} [options] */
const tool = (options) => defineTool({ id: "search", access: "public", input, execute: () => 1, ...options });
/** @param {object} [options] */
const part = (options) => definePart({ name: "findings", schema: { type: "string" }, ...options });
/** @param {object} [options] */
const agent = (options) => defineAgent({ id: "researcher", model, ...options });

describe("tools", () => {
  test("NT-08 a tool without an access rule is refused, also when the rule is null", () => {
    assert.equal(tool().access, "public");
    const message = /tool "search": expected an access rule/;
    assert.throws(() => tool({ access: undefined }), { code: "ACCESS_MISSING", message });
    assert.throws(() => tool({ access: null }), { code: "ACCESS_MISSING", message });
  });

  test("NT-33 access rules other than the four kinds are refused", () => {
    const who = () => true;
    assert.equal(tool({ access: who }).access, who);
    assert.equal(tool({ access: "authenticated" }).access, "authenticated");
    assert.deepEqual(tool({ access: { scopes: ["read"] } }).access, { scopes: ["read"] });
    for (const access of ["everyone", true, [], { scopes: [] }, { scopes: "read" }, { scopes: [""] }, {}]) {
      assert.throws(() => tool({ access }), { code: "OPTION_INVALID", message: /tool "search": access/ });
    }
    assert.throws(() => tool({ access: { scope: ["read"] } }), { code: "OPTION_UNKNOWN", message: /"scopes"/ });
  });

  test("NT-09 ids are what model providers take: 64 characters are, 65 are not", () => {
    for (const id of ["a", "_x", "A-b_9", "a".repeat(64)]) assert.equal(tool({ id }).id, id);
    for (const id of ["", "9a", "-a", "a b", "a.b", "a/b", "é", "a\n", "a".repeat(65), 5, undefined]) {
      assert.throws(() => tool({ id }), { code: "ID_INVALID" });
    }
  });

  test("NT-09 unknown options are refused with the closest known one", () => {
    assert.throws(() => tool({ exposErrors: true }), {
      code: "OPTION_UNKNOWN",
      message: /tool "search".*"exposErrors"; did you mean "exposeErrors"\?/,
    });
    assert.throws(() => tool({ zzzzzzzz: 1 }), { code: "OPTION_UNKNOWN", message: /known are: id, / });
    assert.throws(() => tool({ effects: { readonly: true } }), { code: "OPTION_UNKNOWN", message: /"readOnly"/ });
    assert.throws(() => defineTool(/** @type {any} */ (undefined)), { code: "OPTION_INVALID" });
  });

  test("NT-09 a tool has something to execute, or is external", () => {
    assert.equal(tool({ execute: undefined, external: true }).external, true);
    assert.equal(tool().external, false);
    assert.throws(() => tool({ execute: undefined }), { code: "OPTION_INVALID", message: /execute/ });
    assert.throws(() => tool({ execute: "run" }), { code: "OPTION_INVALID" });
    assert.throws(() => tool({ external: true }), { code: "OPTION_INVALID" });
  });

  test("NT-09 options with a few choices take those only", () => {
    const choices = {
      approval: ["none", "required"],
      exposure: ["direct", "deferred", "hidden"],
      concurrency: ["exclusive", "shared"],
      replay: ["never", "safe"],
    };
    for (const [name, allowed] of Object.entries(choices)) {
      for (const value of allowed) assert.equal(tool({ [name]: value })[name], value);
      for (const value of ["other", true, null, 1]) {
        assert.throws(() => tool({ [name]: value }), {
          code: "OPTION_INVALID",
          message: new RegExp(`tool "search": ${name}`),
        });
      }
    }
    const byInput = () => /** @type {const} */ ("shared");
    assert.equal(tool({ concurrency: byInput }).concurrency, byInput);
  });

  test("NT-09 numbers have to be in their range", () => {
    assert.equal(tool({ maxUses: 1 }).maxUses, 1);
    assert.equal(tool({ timeoutMs: 1 }).timeoutMs, 1);
    assert.equal(tool({ timeoutMs: "unbounded" }).timeoutMs, "unbounded");
    for (const bad of [0, -1, 1.5, NaN, Infinity, "1", null]) {
      assert.throws(() => tool({ maxUses: bad }), { code: "OPTION_INVALID", message: /maxUses/ });
      assert.throws(() => tool({ timeoutMs: bad }), { code: "OPTION_INVALID", message: /timeoutMs/ });
    }
  });

  test("NT-09 effects and injected arguments are checked", () => {
    const effects = { readOnly: true, sandbox: "required" };
    assert.deepEqual(tool({ effects }).effects, effects);
    assert.throws(() => tool({ effects: { network: "yes" } }), { code: "OPTION_INVALID" });
    assert.throws(() => tool({ effects: { sandbox: true } }), { code: "OPTION_INVALID" });
    for (const injects of [{}, [{ name: "", from: "host" }], [{ name: "q" }], [{ name: "q", from: "model" }], ["q"]]) {
      assert.throws(() => tool({ injects }), { code: "OPTION_INVALID", message: /injects/ });
    }
    const twice = [
      { name: "q", from: "host" },
      { name: "q", from: "toolCallId" },
    ];
    assert.throws(() => tool({ injects: twice }), { code: "OPTION_INVALID", message: /injects\[1\]\.name/ });
  });

  test("NT-09 a model sees a tool's schema without the injected arguments", () => {
    const injects = [{ name: "tenant", from: "host" }];
    const made = tool({
      injects,
      input: {
        type: "object",
        properties: { q: { type: "string" }, tenant: { type: "string" } },
        required: ["q", "tenant"],
        additionalProperties: false,
      },
    });
    assert.deepEqual(offeredInput(made).json, {
      type: "object",
      properties: { q: { type: "string" } },
      required: ["q"],
      additionalProperties: false,
    });
    assert.equal(offeredInput(made), offeredInput(made));
    assert.equal(offeredInput(tool()).text, JSON.stringify(input));
  });

  test("NT-09 a schema that does not compile breaks its own tool, by name", () => {
    const bad = { type: "object", properties: { q: { type: "strin" } } };
    assert.throws(() => tool({ input: bad }), { code: "SCHEMA_INVALID", message: /tool "search": input/ });
    assert.throws(() => tool({ output: bad }), { code: "SCHEMA_INVALID", message: /tool "search": output/ });
    assert.throws(() => tool({ input: undefined }), { code: "SCHEMA_INVALID" });
  });

  test("NT-09 inputSchema is an alias of input, not a second one", () => {
    assert.equal(tool({ input: undefined, inputSchema: input }).input.text, JSON.stringify(input));
    assert.throws(() => tool({ inputSchema: input }), { code: "OPTION_INVALID", message: /both/ });
  });

  test("NT-04 definitions are frozen, and leave out what was not given", () => {
    const made = tool();
    assert.ok(Object.isFrozen(made));
    assert.ok(Object.isFrozen(made.input.json.properties));
    assert.equal("timeoutMs" in made, false);
    assert.throws(() => (made.id = "other"), TypeError);
  });
});

describe("parts and sources", () => {
  test("D-14 a part's name leaves room for the id of its submit tool: 57 characters do, 58 do not", () => {
    assert.equal(part({ name: "p".repeat(57) }).name.length, 57);
    assert.throws(() => part({ name: "p".repeat(58) }), { code: "ID_INVALID", message: /at most 57/ });
  });

  test("NT-06 a part is ephemeral unless it says otherwise", () => {
    assert.equal(part().persist, "ephemeral");
    assert.equal(part({ persist: "content" }).persist, "content");
    assert.throws(() => part({ persist: "contents" }), { code: "OPTION_INVALID", message: /part "findings": persist/ });
  });

  test("NT-09 parts and sources are checked like everything else", () => {
    assert.throws(() => part({ schema: undefined }), { code: "SCHEMA_INVALID", message: /part "findings": schema/ });
    assert.throws(() => part({ scheme: 1 }), { code: "OPTION_UNKNOWN", message: /"schema"/ });
    const source = { id: "notes", access: "public", load: () => "text" };
    assert.equal(defineSource(source).id, "notes");
    assert.throws(() => defineSource({ ...source, access: undefined }), {
      code: "ACCESS_MISSING",
      message: /source "notes"/,
    });
    assert.throws(() => defineSource({ ...source, load: "text" }), { code: "OPTION_INVALID" });
  });
});

describe("agents", () => {
  test("NT-09 two tools of one agent have different ids", () => {
    assert.equal(agent({ tools: [tool(), tool({ id: "fetch" })] }).tools.length, 2);
    assert.throws(() => agent({ tools: [tool(), tool({ id: "fetch" }), tool()] }), {
      code: "TOOL_ID_TAKEN",
      message: /agent "researcher": tools\[2\]: .*"search", which tools\[0\]/,
    });
  });

  test("NT-09 two parts of one agent have different names", () => {
    assert.equal(agent({ emits: [part(), part({ name: "draft" })] }).emits.length, 2);
    assert.throws(() => agent({ emits: [part(), part()] }), { code: "PART_TAKEN", message: /emits\[1\].*"findings"/ });
  });

  test("NT-09 a tool or source that needs more scopes than the agent has could never run", () => {
    const tools = [tool({ access: { scopes: ["read", "write"] } })];
    assert.ok(agent({ tools, grants: ["write", "read", "more"] }));
    assert.throws(() => agent({ tools, grants: ["read"] }), {
      code: "GRANT_MISSING",
      message: /agent "researcher": tool "search" needs "write", but the agent's grants are: "read"/,
    });
    assert.throws(() => agent({ tools }), { code: "GRANT_MISSING", message: /grants are: none/ });
    const reads = [defineSource({ id: "notes", access: { scopes: ["read"] }, load: () => "" })];
    assert.throws(() => agent({ reads }), { code: "GRANT_MISSING", message: /source "notes"/ });
  });

  test("NT-09 what is not a tool is named by agent and index", () => {
    const aiSdkTool = { description: "d", inputSchema: input, execute: () => 1 };
    for (const [index, bad] of [undefined, null, aiSdkTool, { id: "search" }, "search", agent()].entries()) {
      const tools = [...Array.from({ length: index }, (_, i) => tool({ id: `t${i}` })), bad];
      assert.throws(() => agent({ tools }), {
        code: "OPTION_INVALID",
        message: new RegExp(`agent "researcher": tools\\[${index}\\]`),
      });
    }
    for (const tools of [{ search: tool() }, "search", null, new Set()]) {
      assert.throws(() => agent({ tools }), {
        code: "OPTION_INVALID",
        message: /agent "researcher": tools: expected an array/,
      });
    }
  });

  test("NT-09 the rest of an agent is checked too", () => {
    assert.throws(() => agent({ model: undefined }), { code: "MODEL_INVALID", message: /agent "researcher"/ });
    assert.throws(() => agent({ id: "a b" }), { code: "ID_INVALID" });
    assert.throws(() => agent({ instruction: "x" }), {
      code: "OPTION_UNKNOWN",
      message: /agent "researcher".*"instructions"/,
    });
    for (const bad of [
      { instructions: 1 },
      { emits: [{}] },
      { reads: [part()] },
      { grants: "read" },
      { middleware: [undefined] },
      { modelOptions: 1 },
    ]) {
      assert.throws(() => agent(bad), { code: "OPTION_INVALID", message: /agent "researcher"/ });
    }
    assert.throws(() => agent({ budget: { steps: 0 } }), { code: "BUDGET_INVALID" });
    assert.throws(() => agent({ limits: { maxDepth: -1 } }), { code: "LIMIT_INVALID" });
  });

  test("D-29 tools as a function are asked for once, at first use", () => {
    let asked = 0;
    const made = agent({
      tools: () => {
        asked++;
        return [tool()];
      },
    });
    assert.equal(asked, 0);
    assert.equal(resolveTools(made), resolveTools(made));
    assert.equal(asked, 1);
  });

  test("D-29 tools as a function pass the same checks, when they are asked for", () => {
    const taken = agent({ tools: () => [tool(), tool()] });
    assert.throws(() => resolveTools(taken), { code: "TOOL_ID_TAKEN" });
    assert.throws(() => resolveTools(agent({ tools: async () => [] })), {
      code: "OPTION_INVALID",
      message: /tools\(\).*a promise/,
    });
    assert.throws(() => resolveTools(agent({ tools: () => [tool({ access: { scopes: ["x"] } })] })), {
      code: "GRANT_MISSING",
    });
  });

  test("D-29 two agents may refer to each other, with contracts on both sides", () => {
    const content = part({ persist: "content" });
    /** @type {any} */
    const writer = defineAgent({
      id: "writer",
      model,
      emits: [content],
      tools: () => [asTool(critic, { deliverable: content })],
    });
    const critic = defineAgent({
      id: "critic",
      model,
      emits: [content],
      tools: () => [asTool(writer, { deliverable: content })],
    });
    assert.equal(resolveTools(writer)[0]?.id, "run-critic");
    assert.equal(resolveTools(critic)[0]?.id, "run-writer");
  });
});
