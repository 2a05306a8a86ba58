import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { defineTool } from "../../js/index.js";
import { callerOf, callsIn, leafOf, nestedRun, rejection } from "../scenes/nested-runs.js";

const numbered = {
  type: "object",
  properties: { n: { type: "number" } },
  required: ["n"],
  additionalProperties: false,
};

/** How nested calls of one leaf with these arguments end, one after the other. */
async function endsOf(argumentsList, { leaf: rest, ...given }) {
  const { leaf, seen } = leafOf(() => "ran", rest);
  const ends = [];
  const caller = callerOf(async ({ callTool }) => {
    for (const args of argumentsList) {
      ends.push(
        await callTool("leaf", args).then(
          (result) => result.text,
          ({ code, message }) => ({ code, message }),
        ),
      );
    }
  });
  const run = await nestedRun({ tools: [caller, leaf], agent: { budget: { toolCalls: 100 } }, ...given });
  assert.equal(run.result.outcome.status, "completed");
  return { ends, seen, ...run };
}

for (const invalidArgs of [undefined, "fail", "returnToolError", "normalizeThenReturnToolError"]) {
  test(`NC-28 arguments of a wrong type are refused with the tool's name, and never end the turn (invalidArgs: ${invalidArgs})`, async () => {
    const { ends, seen, events } = await endsOf([{ n: "many" }, {}, { n: 1, more: 2 }, { n: 1 }], {
      leaf: { input: numbered },
      limits: { invalidArgs },
    });
    for (const { code, message } of ends.slice(0, 3)) {
      assert.equal(code, "TOOL_FAILED");
      assert.match(message, /^invalid arguments for nested call 'leaf': /);
    }
    assert.equal(ends[3], "ran");
    assert.deepEqual(seen, [{ n: 1 }]);
    assert.deepEqual(callsIn(events, "tool.refused"), ["p1/1", "p1/2", "p1/3"]);
  });
}

test("NC-28 the message says where and what", async () => {
  const { ends } = await endsOf([{ n: "many" }], { leaf: { input: numbered } });
  assert.match(ends[0].message, /\/n/);
  assert.match(ends[0].message, /number/);
});

test("NC-29 arguments sent as a JSON text are decoded where the policy repairs, else refused", async () => {
  const repaired = await endsOf(['{"n":1}', '```json\n{"n":2}\n```', { n: "3" }], {
    leaf: { input: numbered },
    limits: { invalidArgs: "normalizeThenReturnToolError" },
  });
  assert.deepEqual(repaired.ends, ["ran", "ran", "ran"]);
  assert.deepEqual(repaired.seen, [{ n: 1 }, { n: 2 }, { n: 3 }]);

  const strict = await endsOf(['{"n":1}', { n: "3" }], { leaf: { input: numbered } });
  assert.deepEqual(
    strict.ends.map(({ code }) => code),
    ["TOOL_FAILED", "TOOL_FAILED"],
  );
  assert.deepEqual(strict.seen, []);
});

test("NC-30 a host's value overrules what the caller forged; the host's gate sees the arguments as they were sent", async () => {
  const asked = [];
  const authorizeTool = ({ toolId, args }) => {
    if (toolId === "leaf") asked.push(args);
    return true;
  };
  const injected = ({ toolId, callId, parentCallId, args }) => ({
    tenant: `of ${toolId} ${callId} ${parentCallId} ${JSON.stringify(args)}`,
  });
  const input = {
    ...numbered,
    properties: { n: { type: "number" }, tenant: { type: "string" } },
    required: ["n", "tenant"],
  };
  const { ends, seen } = await endsOf([{ n: 1, tenant: "forged" }, { n: 2 }], {
    leaf: { input, injects: [{ name: "tenant", from: "host" }] },
    injected,
    security: { authorizeTool },
  });
  assert.deepEqual(ends, ["ran", "ran"]);
  assert.deepEqual(seen, [
    { n: 1, tenant: 'of leaf p1/1 p1 {"n":1,"tenant":"forged"}' },
    { n: 2, tenant: 'of leaf p1/2 p1 {"n":2}' },
  ]);
  assert.deepEqual(asked, [{ n: 1, tenant: "forged" }, { n: 2 }]);
});

test("NC-30 a tool with injected arguments takes an object, and the model is not shown the keys", async () => {
  const { leaf } = leafOf(() => "ran", {
    injects: [{ name: "tenant", from: "host" }],
    input: { type: "object", properties: { tenant: { type: "string" }, q: { type: "string" } }, required: ["tenant"] },
  });
  const refused = [];
  const caller = callerOf(async ({ callTool }) => {
    for (const args of [null, [], "x"]) refused.push((await rejection(callTool("leaf", args))).code);
  });
  const { agent } = await nestedRun({ tools: [caller, leaf], injected: () => ({ tenant: "t" }) });
  assert.deepEqual(refused, Array(3).fill("TOOL_FAILED"));
  const { inputSchema } = agent.model.requests[0].tools.find(({ name }) => name === "leaf");
  assert.deepEqual(Object.keys(inputSchema.properties), ["q"]);
  assert.equal(inputSchema.required?.includes("tenant") ?? false, false);
});

test("NC-31 an injected call id is the nested one", async () => {
  const { seen } = await endsOf([{ n: 1, id: "forged" }], {
    leaf: { input: { type: "object", required: ["id"] }, injects: [{ name: "id", from: "toolCallId" }] },
  });
  assert.deepEqual(seen, [{ n: 1, id: "p1/1" }]);
});

for (const [way, injected] of [
  [
    "throws",
    () => {
      throw new Error("the secret");
    },
  ],
  ["rejects", () => Promise.reject(new Error("the secret"))],
  ["gives nothing", () => undefined],
  ["gives other keys", () => ({ other: 1 })],
  ["is missing", undefined],
]) {
  test(`NC-32 a supplier of injected values that ${way}: refused without the cause`, async () => {
    const { ends, seen, events } = await endsOf([{}], {
      leaf: { injects: [{ name: "tenant", from: "host" }] },
      ...(injected && { injected }),
    });
    assert.deepEqual(ends, [{ code: "VALIDATION", message: "failed to prepare injected arguments for tool `leaf`" }]);
    assert.deepEqual(seen, []);
    assert.equal(JSON.stringify(events).includes("secret"), false);
  });
}

test("BL-081 arguments that are JSON but no object are refused one by one; the other calls are unaffected", async () => {
  const odd = [null, [], "x", 3, true];
  const { leaf, seen } = leafOf(() => "ran", { input: { type: "object" } });
  let ends;
  const caller = callerOf(async ({ callTool }) => {
    const calls = [...odd, { n: 1 }].map((args) =>
      callTool("leaf", args).then(
        ({ text }) => text,
        ({ code, message }) => ({ code, message }),
      ),
    );
    ends = await Promise.all(calls);
  });
  await nestedRun({ tools: [caller, leaf] });
  for (const { code, message } of ends.slice(0, odd.length)) {
    assert.equal(code, "TOOL_FAILED");
    assert.match(message, /^invalid arguments for nested call 'leaf': /);
    assert.ok(message.length < 2_048);
  }
  assert.equal(ends[odd.length], "ran");
  assert.deepEqual(seen, [{ n: 1 }]);
});

test("BL-081 5 MB of garbage is refused in a message below 2 KB", async () => {
  const garbage = "x".repeat(5_000_000);
  const { ends } = await endsOf([garbage, { n: garbage }, { n: 1, [garbage]: 1 }], { leaf: { input: numbered } });
  for (const { code, message } of ends) {
    assert.equal(code, "TOOL_FAILED");
    assert.ok(Buffer.byteLength(message) < 2_048, `${Buffer.byteLength(message)} bytes`);
  }
});

test("BL-081 what has no JSON form is refused by its kind; what has one is copied", async () => {
  const cycle = {};
  cycle.self = cycle;
  const throwing = {
    toJSON() {
      throw new Error("no");
    },
  };
  const { ends, seen } = await endsOf(
    [cycle, { n: 1n }, () => {}, Symbol("s"), throwing, { at: new Date(0), no: undefined, nan: NaN }],
    {},
  );
  for (const { code, message } of ends.slice(0, 5)) {
    assert.equal(code, "TOOL_FAILED");
    assert.match(message, /^invalid arguments for nested call 'leaf': expected a JSON value, found /);
  }
  assert.deepEqual(seen, [{ at: "1970-01-01T00:00:00.000Z", nan: null }]);
});

test("BL-081 arguments nested deeper than 128 are refused, not crashed on", async () => {
  const nested = (depth) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
  const { ends } = await endsOf([nested(128), nested(129), nested(1_000)], {});
  assert.equal(ends[0], "ran");
  assert.deepEqual([ends[1].code, ends[2].code], ["VALUE_TOO_DEEP", "VALUE_TOO_DEEP"]);
  // Deeper still, some engines cannot write it as JSON text; it is refused all the same.
  const [{ code, message }] = (await endsOf([nested(100_000)], {})).ends;
  assert.ok(code === "VALUE_TOO_DEEP" || code === "TOOL_FAILED");
  assert.match(message, /^invalid arguments for nested call 'leaf': /);
});

test("arguments are copied on the way in and results on the way out", async () => {
  const kept = [];
  const { leaf } = leafOf((input) => {
    input.list.push("changed by the leaf");
    const result = { list: input.list };
    kept.push(result);
    return result;
  });
  const args = { list: ["given"] };
  let value;
  const caller = callerOf(async ({ callTool }) => {
    const call = callTool("leaf", args);
    args.list.push("changed after the call");
    ({ value } = await call);
  });
  await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(args.list, ["given", "changed after the call"]);
  assert.deepEqual(value, { list: ["given", "changed by the leaf"] });
  assert.notEqual(value.list, kept[0].list);
});

test("BL-083 missing arguments are an empty object where every field is optional, with a Standard Schema's defaults", async () => {
  const seen = [];
  const plain = defineTool({
    id: "plain",
    access: "public",
    input: { type: "object", properties: { n: { type: "number" } } },
    execute: (input) => void seen.push(input),
  });
  const standard = defineTool({
    id: "standard",
    access: "public",
    input: z.object({ n: z.number().default(7), q: z.string().optional() }),
    execute: (input) => void seen.push(input),
  });
  const needy = defineTool({
    id: "needy",
    access: "public",
    input: numbered,
    execute: (input) => void seen.push(input),
  });
  let refused;
  const caller = callerOf(async ({ callTool }) => {
    await callTool("plain");
    await callTool("plain", undefined);
    await callTool("standard");
    await callTool("standard", undefined);
    refused = await rejection(callTool("needy"));
  });
  await nestedRun({ tools: [caller, plain, standard, needy] });
  assert.deepEqual(seen, [{}, {}, { n: 7 }, { n: 7 }]);
  assert.match(refused.message, /^invalid arguments for nested call 'needy': /);
});

test("NC-28 a Standard Schema's refinement binds nested calls, and its transforms reach the body", async () => {
  const input = z.object({
    n: z.number().refine((n) => n % 2 === 0, "must be even"),
    q: z.string().transform((q) => q.toUpperCase()),
  });
  const { ends, seen } = await endsOf(
    [
      { n: 1, q: "a" },
      { n: 2, q: "b" },
    ],
    { leaf: { input } },
  );
  assert.match(ends[0].message, /^invalid arguments for nested call 'leaf': .*must be even/);
  assert.deepEqual(seen, [{ n: 2, q: "B" }]);
});
