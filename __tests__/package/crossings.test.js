import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as z from "zod";

import { native } from "../../js/binding/native.js";
import { asTool, createKeel, defineAgent, defineTool } from "../../js/index.js";

/** What crosses the boundary into the core, and back: numbers that no machine changes. */
const COUNTED = ["start", "say", "call", "callWith", "sayOther", "reply", "result", "answer", "nothing", "callTool"];
const ALSO = ["letter", "input", "texts", "more", "query", "release"];

/**
 * @param {() => Promise<unknown>} work
 * @returns {Promise<Record<string, number>>} how often each function was called, how many characters of text went in and came
 *   out, and how many words of commands came out
 */
async function crossings(work) {
  const counted = { textIn: 0, textOut: 0, wordsOut: 0 };
  const own = {};
  for (const name of [...COUNTED, ...ALSO]) {
    own[name] = native[name];
    native[name] = (...given) => {
      counted[name] = (counted[name] ?? 0) + 1;
      for (const one of given) if (typeof one === "string") counted.textIn += one.length;
      const back = own[name](...given);
      if (typeof back === "number") counted.wordsOut += Math.abs(back);
      else if (back !== undefined) counted.textOut += [back].flat().join("").length;
      return back;
    };
  }
  try {
    await work();
  } finally {
    Object.assign(native, own);
  }
  return counted;
}

/** What each of some units adds: what the rest of a run costs falls out. */
async function perUnit(run) {
  const [few, many] = [await crossings(() => run(10)), await crossings(() => run(30))];
  const names = Object.keys(many).filter((name) => many[name] !== (few[name] ?? 0));
  return Object.fromEntries(names.map((name) => [name, (many[name] - (few[name] ?? 0)) / 20]));
}

const looking = defineTool({
  id: "look",
  description: "looks",
  input: z.object({ at: z.number() }),
  access: "public",
  execute: async ({ at }) => ({ seen: at }),
});

/** A model that calls a tool that often, with arguments and ids of one length. */
const calling = (toolName, input, times) => ({
  id: "calling",
  generate: async ({ messages }) => {
    const step = (messages.length - 1) >> 1;
    return step < times ? { toolCalls: [{ toolCallId: `c${step + 10}`, toolName, input }] } : { text: "done" };
  },
});

const budget = { steps: 100, toolCalls: 100 };

describe("what crosses per unit of work", () => {
  test("a step with one validated call: the reply and the result, and no text comes back", async () => {
    const keel = createKeel();
    const each = await perUnit((times) => {
      const agent = defineAgent({ id: "a", model: calling("look", '{"at":1}', times), tools: [looking] });
      return keel.run(agent, "go", { budget });
    });
    assert.deepEqual(each, { textIn: 21, wordsOut: 20, call: 1, reply: 1, result: 1 });
  });

  test("a nested call: the call and the result, and no text comes back", async () => {
    const keel = createKeel({ limits: { maxNestedDepth: 1 } });
    const each = await perUnit((times) => {
      const outer = defineTool({
        id: "outer",
        description: "calls",
        input: z.object({}),
        access: "public",
        concurrency: "shared",
        async execute(_input, { callTool }) {
          for (let index = 0; index < times; index += 1) await callTool(looking, { at: 1 });
          return null;
        },
      });
      const agent = defineAgent({ id: "a", model: calling("outer", "{}", 1), tools: [outer, looking] });
      return keel.run(agent, "go", { budget });
    });
    assert.deepEqual(each, { textIn: 18, wordsOut: 15, callTool: 1, result: 1 });
  });

  test("a delegation: two replies", async () => {
    const keel = createKeel();
    const child = defineAgent({ id: "child", model: { id: "m", generate: async () => ({ text: "fine" }) } });
    const run = asTool(child, { id: "run", description: "runs", access: "public" });
    const each = await perUnit((times) => {
      const agent = defineAgent({ id: "a", model: calling("run", '{"brief":"go"}', times), tools: [run] });
      return keel.run(agent, "go", { budget });
    });
    const { call, reply, say } = each;
    assert.deepEqual({ call, reply, say }, { call: 1, reply: 2, say: 1 });
    assert.equal(each.result, undefined);
  });
});
