import assert from "node:assert/strict";
import { test } from "node:test";

import { createKeel, memoryLedger } from "../../js/index.js";
import { callerOf, leafOf, nestedRun, ONE_CALL, summaryOf } from "../scenes/nested-runs.js";
import { agentOf, collect, ofType } from "../scenes/small-agents.js";

const SECRET = "s3cr3t";

/** Hides the secret wherever a text or a value has it. */
const hide = (_kind, _toolId, value) => JSON.parse(JSON.stringify(value).replaceAll(SECRET, "***"));

function tools() {
  const { leaf } = leafOf(({ way, password }) => {
    if (way === "ok") return { token: password };
    throw Object.assign(new Error(password), { way });
  });
  const { leaf: failing } = leafOf(() => ({ kind: "tool-result", isError: true, text: `wrong: ${SECRET}` }), {
    id: "failing",
  });
  const caller = callerOf(async ({ callTool }) => {
    await callTool("leaf", { way: "ok", password: SECRET });
    await callTool("failing", { password: SECRET });
    await callTool("leaf", { way: "throws", password: SECRET }).catch(() => {});
    await callTool("ghost", { password: SECRET }).catch(() => {});
    return { found: SECRET };
  });
  return [caller, leaf, failing];
}

test("D-24 redact reaches what is read of nested calls: events, their summaries, records, streams", async () => {
  const capture = { toolIo: true, redact: hide };
  const { events, keel, result } = await nestedRun({ tools: tools(), capture });
  assert.ok(ofType(events, "tool.started").every(({ input }) => input !== undefined));
  assert.equal(summaryOf(events)[0].args, '{"way":"ok","password":"***"}');
  const read = [
    events,
    result,
    await keel.records.get(result.turnId),
    await keel.records.tree(result.turnId),
    await keel.records.transcript(result.turnId),
    await keel.records.list(),
  ];
  for (const [index, one] of read.entries())
    assert.equal(JSON.stringify(one).includes(SECRET), false, `${index}: ${JSON.stringify(one)}`);

  const streamed = await collect(
    createKeel({ capture, limits: { maxNestedDepth: 1 } }).stream(agentOf(ONE_CALL, { tools: tools() }), "go"),
  );
  assert.ok(ofType(streamed, "tool.started").length > 1);
  assert.equal(JSON.stringify(streamed).includes(SECRET), false);
});

test("D-24 redact is told the kind and the tool of each payload, those of a summary included", async () => {
  const told = new Set();
  const { leaf } = leafOf(() => "out");
  const capture = { toolIo: true, redact: (kind, toolId, value) => (told.add(`${kind} ${toolId}`), value) };
  await nestedRun({ tools: [callerOf(({ callTool }) => callTool("leaf", { n: 1 }).then(() => "ok")), leaf], capture });
  assert.deepEqual([...told].toSorted(), [
    "toolInput caller",
    "toolInput leaf",
    "toolOutput caller",
    "toolOutput leaf",
  ]);
});

test("D-24 a redaction that throws hides the payload", async () => {
  const capture = {
    toolIo: true,
    redact() {
      throw new Error("broken");
    },
  };
  const { events, result } = await nestedRun({ tools: tools(), capture });
  assert.equal(JSON.stringify([events, result]).includes(SECRET), false);
});

test("D-24 models, callers and the ledger get what really happened", async () => {
  const ledger = memoryLedger();
  let value;
  const { leaf, seen } = leafOf(({ password }) => ({ token: password }));
  const caller = callerOf(async ({ callTool }) => {
    ({ value } = await callTool("leaf", { password: SECRET }));
    return SECRET;
  });
  const { agent } = await nestedRun({ tools: [caller, leaf], ledger, capture: { toolIo: true, redact: () => "***" } });
  assert.deepEqual([seen[0].password, value.token], [SECRET, SECRET]);
  assert.equal(JSON.stringify(agent.model.requests[1].messages.at(-1)).includes(SECRET), true);
});

test("D-24 without capture no payload of a nested call is in any event", async () => {
  const { events } = await nestedRun({ tools: tools() });
  for (const event of events) {
    assert.equal("input" in event || "output" in event, false);
    if (event.type !== "tool.completed" || event.toolId !== "failing")
      assert.equal(JSON.stringify(event).includes(SECRET), false);
  }
});
