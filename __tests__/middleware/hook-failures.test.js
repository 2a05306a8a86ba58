import assert from "node:assert/strict";
import { test } from "node:test";

import { createKeel, defineAgent, defineMiddleware, defineTool } from "../../js/index.js";
import { fail, scriptedModel, text, toolCall } from "../../js/testing/index.js";

const CALLING = [toolCall("caller"), text("done")];

/**
 * A turn whose model calls a tool that calls another, under one middleware.
 *
 * @param {object} hooks
 * @param {any[]} [script]
 */
async function runWith(hooks, script = CALLING) {
  const tool = (id, execute) => defineTool({ id, access: "public", input: { type: "object" }, execute });
  const leaf = tool("leaf", () => "leaf-out");
  const caller = tool("caller", async (_input, { callTool }) => (await callTool("leaf", {})).text);
  const model = scriptedModel(script);
  const keel = createKeel({
    limits: { maxNestedDepth: 1 },
    middleware: [defineMiddleware({ name: "faulty", ...hooks })],
    capture: { toolIo: true, redact: (kind) => `hidden ${kind}` },
  });
  const result = await keel.run(defineAgent({ id: "agent", model, tools: [leaf, caller] }), "go");
  return { keel, model, result, events: await keel.records.events(result.turnId) };
}

const thrower = () => {
  throw new Error("broken");
};

for (const [fault, afterTool] of Object.entries({
  throws: thrower,
  "returns no result": () => 5,
  "returns no JSON": () => ({ value: 1n }),
})) {
  test(`an afterTool that ${fault} withholds the result: it may have been about to scrub it`, async () => {
    const { model, result } = await runWith({ afterTool });
    assert.equal(result.outcome.status, "completed");
    const { type, value } = model.requests[1].messages.at(-1).content[0].output;
    assert.equal(type, "error-text");
    assert.match(value, /^the result of call '[a-z]+' is withheld: /);
    assert.doesNotMatch(value, /leaf-out/);
  });
}

for (const hook of ["beforeModel", "afterModel"]) {
  test(`a ${hook} that throws fails the turn`, async () => {
    const { result } = await runWith({ [hook]: thrower });
    assert.equal(result.outcome.cause.code, "MODEL_ERROR");
    assert.match(result.outcome.cause.message, /broken/);
  });
}

test("an observeNestedResult that throws changes nothing and is told to onError, with a signal", async () => {
  const told = [];
  const { result } = await runWith({
    observeNestedResult: thrower,
    onError: ({ signal }, error) => told.push([error.message, signal.aborted]),
  });
  assert.equal(result.outcome.status, "completed");
  assert.deepEqual(told, [["broken", false]]);
});

test("NT-40 a retried model call is sent what beforeModel made of the step's request", async () => {
  const cut = (_context, request) => ({ ...request, temperature: 0.5 });
  const { model } = await runWith({ beforeModel: cut }, [
    fail(Object.assign(new Error("busy"), { isRetryable: true })),
    text("done"),
  ]);
  assert.deepEqual(
    model.requests.map(({ temperature }) => temperature),
    [0.5, 0.5],
  );
});

test("D-24 events show the arguments of a pending call redacted; whoever decides sees them", async () => {
  const { events, result } = await runWith({ beforeTool: () => "defer", checkNestedTool: () => {} }, [
    toolCall("caller", { n: 1 }),
    text("done"),
  ]);
  assert.deepEqual(result.outcome.pending[0].args, { n: 1 });
  const shown = events.flatMap(({ pending }) => pending ?? []).map(({ args }) => args);
  assert.deepEqual(shown, ["hidden toolInput", "hidden toolInput"]);
});
