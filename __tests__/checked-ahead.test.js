import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { text, toolCall } from "../js/testing/index.js";
import { createKeel, defineMiddleware, toolResult } from "../js/index.js";
import { calling, leafOf, refusal } from "./calling.js";
import { agentOf, lastOutputs, toolOf } from "./small-agents.js";

/** A schema of the user's that notes what it is asked, and answers with what `check` returns. */
function schemaOf(check) {
  const asked = [];
  const validate = (value) => (asked.push(value), check(value));
  const jsonSchema = { input: () => ({ type: "object", properties: { n: { type: "number" } }, required: ["n"] }) };
  return { asked, schema: { "~standard": { version: 1, vendor: "test", validate, jsonSchema } } };
}

const double = ({ n }) => ({ value: { n: n * 2 } });
const refuse = () => ({ issues: [{ message: "must be even", path: ["n"] }] });

const ways = {
  "at once": (check) => check,
  "with a promise": (check) => async (value) => check(value),
};

for (const [when, answering] of Object.entries(ways)) {
  describe(`D-26 a Standard Schema that answers ${when}`, () => {
    test("is asked once for each call of a model, and its value is the body's", async () => {
      const { asked, schema } = schemaOf(answering(double));
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      const agent = agentOf([[toolCall("leaf", { n: 1 }), toolCall("leaf", { n: 2 })], text("done")], {
        tools: [tool],
      });
      await createKeel().run(agent, "go");
      assert.deepEqual(asked, [{ n: 1 }, { n: 2 }]);
      assert.deepEqual(runs, [{ n: 2 }, { n: 4 }]);
    });

    test("is asked once for each nested call", async () => {
      const { asked, schema } = schemaOf(answering(double));
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      await calling(({ callTool }) => Promise.all([callTool("leaf", { n: 1 }), callTool(tool, { n: 2 })]), [tool]);
      assert.deepEqual(asked, [{ n: 1 }, { n: 2 }]);
      assert.deepEqual(runs, [{ n: 2 }, { n: 4 }]);
    });

    test("refuses for both", async () => {
      const { schema } = schemaOf(answering(refuse));
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      const script = [[toolCall("caller", {}, { id: "p1" }), toolCall("leaf", { n: 1 })], text("done")];
      const { returned, outputs } = await calling(({ callTool }) => refusal(callTool("leaf", { n: 1 })), [tool], {
        script,
      });
      assert.match(returned[1], /must be even/);
      assert.match(outputs[1].value, /must be even/);
      assert.deepEqual(runs, []);
    });

    test("that throws refuses, too", async () => {
      const { schema } = schemaOf(
        answering(() => {
          throw new RangeError("it broke");
        }),
      );
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      const { returned } = await calling(({ callTool }) => refusal(callTool("leaf", { n: 1 })), [tool]);
      assert.match(returned[1], /it broke/);
      assert.deepEqual(runs, []);
    });
  });
}

test("D-26 a concurrency function sees what the schema made of the arguments", async () => {
  const seen = [];
  const { schema } = schemaOf(double);
  const concurrency = (input) => (seen.push(input), "shared");
  const { tool } = leafOf("leaf", () => "ok", { input: schema, concurrency });
  await calling(({ callTool }) => callTool("leaf", { n: 1 }), [tool]);
  assert.deepEqual(seen, [{ n: 2 }]);
});

test("D-26 a tool object that is not the agent's is not checked", async () => {
  const { asked, schema } = schemaOf(double);
  const { tool } = leafOf("leaf", () => "ok", { input: schema });
  const stranger = toolOf("leaf", () => "stranger", { input: schema });
  await calling(({ callTool }) => refusal(callTool(stranger, { n: 1 })), [tool]);
  assert.deepEqual(asked, []);
});

test("D-25 a result comes back as the tool gave it, in a copy for each reader", async () => {
  const held = { list: [1, 2], text: "\ud800" };
  const { tool } = leafOf("leaf", () => held);
  const seen = [];
  const observer = defineMiddleware({
    name: "observer",
    checkNestedTool: () => undefined,
    observeNestedResult: (_context, _call, result) => {
      seen.push(JSON.stringify(result));
      result.value.list.push(3);
    },
  });
  const { returned } = await calling(
    async ({ callTool }) => {
      const result = await callTool("leaf", {});
      held.list.push(4);
      return result;
    },
    [tool],
    { keel: { middleware: [observer] } },
  );
  assert.deepEqual(returned.value, { list: [1, 2], text: "\ud800" });
  assert.equal(returned.text, '{"list":[1,2],"text":"\\ud800"}');
  assert.ok(Object.isFrozen(returned));
  assert.equal(seen[0], JSON.stringify(returned));
});

test("D-25 every form of a result: a text, nothing, and a tool's own result", async () => {
  const forms = {
    text: "half \ud800",
    nothing: undefined,
    own: toolResult({ text: "said", value: [1], metadata: { source: "a" } }),
    failure: toolResult({ isError: true, text: "no" }),
  };
  const tools = Object.entries(forms).map(([id, form]) => leafOf(id, () => form).tool);
  const { returned } = await calling(async ({ callTool }) => {
    const results = [];
    for (const id of Object.keys(forms)) results.push(await callTool(id, {}));
    return results;
  }, tools);
  assert.deepEqual(
    returned.map((result) => ({ ...result })),
    [
      { isError: false, text: "half \ufffd", value: "half \ud800" },
      { isError: false, text: "null", value: null },
      { isError: false, text: "said", value: [1], metadata: { source: "a" } },
      { isError: true, text: "no" },
    ],
  );
});

test("a tool's summary of what it called is in the result that its caller gets", async () => {
  const { tool: inner } = leafOf("inner");
  const middle = toolOf("middle", async (_input, { callTool }) => (await callTool("inner", {})).text);
  const { returned } = await calling(({ callTool }) => callTool("middle", {}), [middle, inner]);
  assert.equal(returned.value, "inner-out");
  assert.deepEqual(
    returned.metadata.nested_calls.map(({ name }) => name),
    ["inner"],
  );
});

test("a model's malformed arguments are nobody's to check", async () => {
  const { asked, schema } = schemaOf(double);
  const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
  const reply = { toolCalls: [{ toolCallId: "c", toolName: "leaf", input: '{"n":' }] };
  const agent = agentOf([reply, text("done")], { tools: [tool] });
  await createKeel().run(agent, "go");
  assert.deepEqual([asked, runs], [[], []]);
  assert.match(lastOutputs(agent)[0].value, /invalid JSON/);
});
