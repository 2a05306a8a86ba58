import assert from "node:assert/strict";
import { test } from "node:test";

import { KeelError, memoryLedger, toolError } from "../../js/index.js";
import { callerOf, leafOf, nestedRun, rejection, summaryOf } from "../scenes/nested-runs.js";
import { ofType, toolOf } from "../scenes/small-agents.js";

const DISPATCH_FAILED = "tool dispatch failed";

/** The parent lets every rejection through. */
const rethrowing = (name, args = {}) => callerOf(({ callTool }) => callTool(name, args));

test("NC-33 a parent that rethrows an approval refusal: the model reads exactly the refusal, and the turn goes on", async () => {
  const { leaf } = leafOf(() => "never", { approval: "required" });
  const { outputs, events, result } = await nestedRun({ tools: [rethrowing("leaf"), leaf] });
  const message = "nested call 'leaf' requires approval; nested calls cannot be deferred";
  assert.deepEqual(outputs, [{ type: "error-text", value: message }]);
  const end = ofType(events, "tool.completed").find(({ callId }) => callId === "p1");
  assert.deepEqual([end.isError, end.error], [true, message]);
  assert.equal(summaryOf(events).length, 1);
  assert.equal(result.text, "done");
});

test("NC-34 a parent that rethrows a not-found: answered to the model verbatim", async () => {
  const { outputs, result } = await nestedRun({ tools: [rethrowing("ghost")] });
  assert.deepEqual(outputs, [{ type: "error-text", value: "tool not found: ghost" }]);
  assert.equal(result.outcome.status, "completed");
});

test("NC-34 D-11 a rethrown spent budget, depth or denied access ends the call, never the turn", async () => {
  const { leaf } = leafOf(() => "never", { access: { scopes: ["s"] } });
  const rethrown = async (given) => {
    const { outputs, result } = await nestedRun({
      tools: [rethrowing("leaf"), leaf],
      agent: { grants: ["s"], ...given.agent },
      ...given,
    });
    assert.equal(result.outcome.status, "completed");
    return outputs[0];
  };
  const spent = { agent: { grants: ["s"], budget: { toolCalls: 1 } } };
  assert.deepEqual(await rethrown(spent), {
    type: "error-text",
    value: "max tool calls (1) exceeded by a nested tool call",
  });
  const off = { limits: { maxNestedDepth: 0 } };
  assert.deepEqual(await rethrown(off), {
    type: "error-text",
    value: "nested tool calls are disabled (max_nested_depth = 0)",
  });
  assert.deepEqual(await rethrown({}), { type: "error-text", value: "access to tool 'leaf' is denied" });
});

test("NC-35 D-11 a nested tool's exception reaches its caller redacted, with the object as cause; events, transcript and ledger lack its text", async () => {
  const thrown = Object.assign(new Error("the secret"), { name: "OddError" });
  const { leaf } = leafOf(() => {
    throw thrown;
  });
  let caught;
  const caller = callerOf(async ({ callTool }) => {
    caught = await callTool("leaf", {}).catch((error) => error);
    throw caught;
  });
  const ledger = memoryLedger();
  const { events, outputs, result, agent } = await nestedRun({
    tools: [caller, leaf],
    ledger,
    capture: { toolIo: true, modelIo: true },
  });
  assert.ok(KeelError.isInstance(caught));
  assert.deepEqual([caught.code, caught.message], ["TOOL_ERROR", DISPATCH_FAILED]);
  assert.equal(caught.cause, thrown);
  const failed = ofType(events, "tool.failed").map(({ callId, error }) => [callId, error]);
  assert.deepEqual(failed, [
    ["p1/1", { code: "TOOL_ERROR", message: DISPATCH_FAILED }],
    ["p1", { code: "TOOL_ERROR", message: DISPATCH_FAILED }],
  ]);
  assert.deepEqual(
    ledger.rows().map(({ callId, status }) => [callId, status]),
    [
      ["p1", "failed"],
      ["p1/1", "failed"],
    ],
  );
  assert.deepEqual(outputs, [{ type: "error-text", value: DISPATCH_FAILED }]);
  const everything = JSON.stringify([events, result, ledger.rows(), agent.model.requests]);
  assert.equal(everything.includes("secret"), false);
  assert.equal(result.outcome.status, "completed");
});

test("D-11 exposeErrors of the tool or the keel shows the model the text of an exception", async () => {
  const failing = (exposeErrors) =>
    callerOf(
      () => {
        throw new Error("the reason");
      },
      { exposeErrors },
    );
  const shown = async (exposeErrors, keel) =>
    (await nestedRun({ tools: [failing(exposeErrors)], exposeErrors: keel })).outputs[0].value;
  assert.equal(await shown(undefined, undefined), DISPATCH_FAILED);
  assert.equal(await shown(true, undefined), "the reason");
  assert.equal(await shown(undefined, true), "the reason");
  assert.equal(await shown(false, true), DISPATCH_FAILED);
});

test("D-11 no code that a tool throws ends the turn", async () => {
  const codes = [
    "CANCELLED",
    "TIMEOUT",
    "STOPPED",
    "BUDGET_TIME",
    "BUDGET_STEPS",
    "LIMIT_EXCEEDED",
    "CHILD_FAILED",
    "INTERNAL",
    "DEPTH",
    "MY_OWN",
  ];
  for (const code of codes) {
    const { leaf } = leafOf(() => {
      throw new KeelError(code, `thrown as ${code}`);
    });
    const { outputs, result } = await nestedRun({
      tools: [callerOf(async ({ callTool }) => `got ${(await callTool("leaf", {})).text}`), leaf],
    });
    assert.deepEqual(outputs, [{ type: "text", value: `got thrown as ${code}` }], code);
    assert.equal(result.outcome.status, "completed", code);
  }
});

for (const [way, fail] of [
  [
    "throws",
    () => {
      throw toolError("x");
    },
  ],
  ["returns", () => toolError("x")],
  [
    "throws a KeelError TOOL_FAILED",
    () => {
      throw new KeelError("TOOL_FAILED", "x");
    },
  ],
]) {
  test(`NC-36 a nested tool that ${way} its own failure: an ordinary result with isError`, async () => {
    const { leaf } = leafOf(fail);
    let result;
    const caller = callerOf(async ({ callTool }) => {
      result = await callTool("leaf", {});
      return "went on";
    });
    const ledger = memoryLedger();
    const { events, outputs } = await nestedRun({ tools: [caller, leaf], ledger });
    assert.deepEqual([result.isError, result.text], [true, "x"]);
    assert.equal(summaryOf(events)[0].status, "error");
    assert.deepEqual(
      ledger.rows().map(({ callId, status }) => [callId, status]),
      [
        ["p1", "completed"],
        ["p1/1", "completed"],
      ],
    );
    assert.deepEqual(outputs, [{ type: "text", value: "went on" }]);
  });
}

test("BL-095 what a nested tool throws arrives as the same object: class, code, cause and a stack that names its file", async () => {
  class OddError extends Error {
    code = "E1";
  }
  const root = new TypeError("the root");
  const thrown = new OddError("odd", { cause: root });
  const { leaf } = leafOf(async () => {
    await Promise.resolve();
    throw thrown;
  });
  let caught;
  const caller = callerOf(async ({ callTool }) => {
    caught = await callTool("leaf", {}).catch((error) => error.cause);
  });
  await nestedRun({ tools: [caller, leaf] });
  assert.equal(caught, thrown);
  assert.ok(caught instanceof OddError);
  assert.deepEqual([caught.code, caught.cause], ["E1", root]);
  assert.match(caught.stack, /throws\.test/);
});

test("BL-095 the object passes several levels, and anything may be thrown", async () => {
  for (const thrown of [
    undefined,
    null,
    0,
    "text",
    Symbol("s"),
    { plain: true },
    Object.freeze(new Error("frozen")),
    new Proxy(
      {},
      {
        get() {
          throw new Error("trap");
        },
      },
    ),
  ]) {
    const { leaf } = leafOf(() => {
      throw thrown;
    });
    const middle = toolOf("middle", async (_input, { callTool }) => {
      throw (await callTool("leaf", {}).catch((error) => error)).cause;
    });
    let cause = "nothing";
    const caller = callerOf(async ({ callTool }) => {
      cause = (await callTool("middle", {}).catch((error) => error)).cause;
    });
    const { result } = await nestedRun({ tools: [caller, middle, leaf] });
    assert.ok(Object.is(cause, thrown), String(typeof thrown));
    assert.equal(result.outcome.status, "completed");
  }
});

test("D-11 an exception that a nested caller catches leaves its own result alone", async () => {
  const { leaf } = leafOf(() => Promise.reject(new Error("inner")));
  const caller = callerOf(async ({ callTool }) => {
    const { code } = await rejection(callTool("leaf", {}));
    return `caught ${code}`;
  });
  const { outputs } = await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(outputs, [{ type: "text", value: "caught TOOL_ERROR" }]);
});
