import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { calling, issue, leafOf } from "../scenes/calling.js";
import { agentOf, lastOutputs, toolOf } from "../scenes/small-agents.js";

const KB = 1024;

describe("limits.toolResultBytes", () => {
  const limits = { toolResultBytes: 16 * KB };

  test("BL-125 caps what a model reads of a result, at level 0 and in a child; a program gets all of it", async () => {
    const big = "é".repeat(6.5 * KB * KB);
    const bigTool = leafOf("big", () => big);
    const lengths = [];
    const passes = toolOf("passes", async (_input, { callTool }) => {
      const { text: all } = await callTool("big");
      lengths.push(all.length);
      return all;
    });
    const script = (id) => [issue(id), text("done")];
    const child = agentOf(script("big"), { id: "child", tools: [bigTool.tool] });
    const agents = [
      agentOf(script("big"), { tools: [bigTool.tool] }),
      agentOf(script("passes"), { tools: [passes, bigTool.tool] }),
      agentOf([issue("run-child", { brief: "x" }), text("done")], { id: "parent", tools: [asTool(child)] }),
    ];
    const keel = createKeel({ limits: { ...limits, maxNestedDepth: 1 } });
    for (const agent of agents) assert.equal((await keel.run(agent, "go")).outcome.status, "completed");
    const read = [lastOutputs(agents[0]), lastOutputs(agents[1]), lastOutputs(child)].map(([output]) => output.value);
    for (const value of read) {
      assert.equal(value, read[0]);
      assert.ok(Buffer.byteLength(value) < 17 * KB);
      assert.match(value, /^é{8192}[^é\uFFFD]*$/u, "cut between two characters, with a mark");
    }
    assert.deepEqual(lengths, [big.length]);
  });

  test("BL-125 a result that just fits is left alone", async () => {
    for (const [size, isWhole] of [
      [16 * KB, true],
      [16 * KB + 1, false],
    ]) {
      const leaf = leafOf("leaf", () => "x".repeat(size));
      const { outputs } = await calling(() => {}, [leaf.tool], {
        script: [issue("leaf"), text("done")],
        keel: { limits },
      });
      assert.equal(outputs[0].value === "x".repeat(size), isWhole);
    }
  });

  test("BL-126 seven children of 40 KB each leave their parent able to go on; each is whole in its own record", async () => {
    const children = Array.from({ length: 7 }, (_, n) => agentOf([text(`${n}`.repeat(40 * KB))], { id: `c${n}` }));
    const step = children.map(({ id }) => toolCall(`run-${id}`, { brief: "x" }, { id }));
    const parent = agentOf([step, text("done")], { id: "parent", tools: children.map((child) => asTool(child)) });
    const keel = createKeel({ limits });
    const result = await keel.run(parent, "go");
    assert.equal(result.outcome.status, "completed");
    for (const output of lastOutputs(parent)) assert.ok(Buffer.byteLength(JSON.stringify(output)) < 18 * KB);
    for (const [n, { record }] of (await keel.records.tree(result.turnId)).children.entries()) {
      assert.equal(record.transcript.at(-1).content[0].text, `${n}`.repeat(40 * KB));
    }
  });

  test("BL-125 a deliverable is never cut", async () => {
    const page = definePart({
      name: "page",
      schema: { type: "object", properties: { body: { type: "string" } } },
      persist: "content",
    });
    const body = "x".repeat(40 * KB);
    const child = agentOf([toolCall("submit_page", { body })], { id: "child", emits: [page] });
    const parent = agentOf([issue("run-child", { brief: "x" }), text("done")], {
      id: "parent",
      tools: [asTool(child, { deliverable: page })],
    });
    await createKeel({ limits }).run(parent, "go");
    assert.match(JSON.stringify(lastOutputs(parent)[0]), /x{40960}/);
  });
});

describe("code that runs inside a submit", () => {
  test("BL-065 a part's validator that runs an agent, or calls a tool, holds nothing up", async () => {
    const inner = agentOf(() => text("inner done"), { id: "inner" });
    const keel = createKeel({ limits: { maxNestedDepth: 1, maxToolConcurrency: 1 } });
    let context;
    const seen = [];
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
        async validate(value) {
          seen.push((await keel.run(inner, "go")).text);
          seen.push(
            await context.callTool("leaf").then(
              () => "called",
              ({ code }) => code,
            ),
          );
          return { value };
        },
      },
    };
    const page = definePart({ name: "page", schema, persist: "content" });
    const caller = toolOf("caller", (_input, given) => void (context = given));
    const agent = agentOf([issue(), toolCall("submit_page", { ok: 1 })], {
      tools: [caller, leafOf().tool],
      emits: [page],
    });
    const result = await keel.run(agent, "go", { deliverable: page });
    assert.deepEqual(
      [result.outcome.status, result.deliverable, seen],
      ["completed", { ok: 1 }, ["inner done", "TOOL_FAILED"]],
    );
  });

  test("BL-065 a tool's own validator may run an agent on the same keel", async () => {
    const inner = agentOf(() => text("inner done"), { id: "inner" });
    const keel = createKeel({ limits: { maxToolConcurrency: 1 } });
    const execute = async () => (await keel.run(inner, "go")).text;
    const agent = agentOf([issue("outer"), text("done")], { tools: [toolOf("outer", execute)] });
    await keel.run(agent, "go");
    assert.equal(lastOutputs(agent)[0].value, "inner done");
  });
});
