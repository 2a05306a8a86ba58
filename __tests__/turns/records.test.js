import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, run } from "../../js/index.js";
import { fail, hang, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, ofType, outputsIn, parentOf, toolOf } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });

/** Runs that start a millisecond apart, so that their order is known. */
async function runs(keel, clock, agents) {
  const results = [];
  for (const agent of agents) {
    await clock.advance(1);
    results.push(await keel.run(agent, "go"));
  }
  return results;
}

describe("a record", () => {
  test("NT-36 says who ran for whom, how it went, what it was granted and what it used", async () => {
    const clock = virtualClock({ wallNow: 5_000 });
    const keel = createKeel({ clock });
    const note = definePart({ name: "note", schema: anything, persist: "content" });
    const emit = toolOf("emit", async (_input, ctx) => {
      ctx.emit(note, { n: 1 });
      await new Promise((resolve) => clock.setTimer(clock.now() + 20, resolve));
    });
    const child = agentOf([toolCall("emit", {}, { id: "e1" }), text("found")], {
      id: "child",
      emits: [note],
      tools: [emit],
      budget: { steps: 7 },
    });
    const running = keel.run(
      parentOf(child, [toolCall("run-child", { brief: "look" }, { id: "d1" }), text("done")]),
      "go",
    );
    await clock.advance(20);
    const { turnId } = await running;
    assert.deepEqual(await keel.records.get(`${turnId}.1`), {
      turnId: `${turnId}.1`,
      parentTurnId: turnId,
      rootTurnId: turnId,
      agentId: "child",
      callId: "d1",
      attempt: 1,
      status: "completed",
      outcome: { status: "completed" },
      budget: { granted: { steps: 7, toolCalls: 50 }, used: { steps: 2, toolCalls: 1, nestedCalls: 0, timeMs: 20 } },
      usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30, nudges: 0 },
      treeUsage: { inputTokens: 20, outputTokens: 10, totalTokens: 30, nudges: 0 },
      finishReason: "stop",
      startedAt: 5_000,
      endedAt: 5_020,
      input: "look",
      parts: [{ part: "note", value: { n: 1 } }],
      transcript: [
        { role: "user", content: "look" },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "e1", toolName: "emit", input: {} }] },
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId: "e1", toolName: "emit", output: { type: "json", value: null } }],
        },
        { role: "assistant", content: [{ type: "text", text: "found" }] },
      ],
    });
  });

  test("NT-36 the result's record is the kept one", async () => {
    const keel = createKeel();
    const result = await keel.run(agentOf([toolCall("note"), text("x")], { tools: [toolOf("note")] }), "go");
    assert.deepEqual(structuredClone(result.record), await keel.records.get(result.turnId));
    assert.deepEqual(await keel.records.transcript(result.turnId), structuredClone(result.record.transcript));
  });

  test("D-1 while a turn runs its record says so, without outcome and end, and grows", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const stream = keel.stream(agentOf([toolCall("note"), hang()], { tools: [toolOf("note")] }), "go");
    await clock.advance(25);
    const record = await keel.records.get(stream.turnId);
    assert.deepEqual(
      [
        record.status,
        "outcome" in record,
        "endedAt" in record,
        record.budget.used.steps,
        record.budget.used.timeMs,
        record.transcript.length,
      ],
      ["running", false, false, 2, 25, 3],
    );
    await stream.stop();
    await stream.result;
    assert.equal((await keel.records.get(stream.turnId)).status, "stopped");
  });

  test("NT-37 NT-39 a tree shows each turn below the one that opened it", async () => {
    const keel = createKeel();
    const leaf = agentOf(() => fail(new Error("x")), { id: "leaf" });
    const child = agentOf(
      ({ messages }) => (outputsIn(messages).length === 0 ? toolCall("run-leaf", { brief: "x" }) : text("could not")),
      { id: "child", tools: [asTool(leaf)] },
    );
    const { turnId } = await keel.run(parentOf(child, [[call, call], text("honest answer")]), "go");
    const shape = ({ record, children }) => [record.turnId.slice(turnId.length), record.status, children.map(shape)];
    assert.deepEqual(shape(await keel.records.tree(turnId)), [
      "",
      "completed",
      [
        [".1", "completed", [[".1.1", "failed", []]]],
        [".2", "completed", [[".2.1", "failed", []]]],
      ],
    ]);
    assert.deepEqual(shape(await keel.records.tree(`${turnId}.2`)), [".2", "completed", [[".2.1", "failed", []]]]);
  });

  test("NT-39 more than nine children stand in the order in which they were opened", async () => {
    const keel = createKeel();
    const child = agentOf(() => text("x"), { id: "child" });
    const { turnId } = await keel.run(parentOf(child, [Array.from({ length: 12 }, () => call), text("done")]), "go");
    const { children } = await keel.records.tree(turnId);
    assert.deepEqual(
      children.map(({ record }) => record.turnId),
      Array.from({ length: 12 }, (_, n) => `${turnId}.${n + 1}`),
    );
  });

  test("what is unknown gives undefined or nothing", async () => {
    const { records } = createKeel();
    assert.deepEqual(
      [
        await records.get("x"),
        await records.tree("x"),
        await records.transcript("x"),
        await records.events("x"),
        (await records.list()).items,
      ],
      [undefined, undefined, undefined, [], []],
    );
  });

  test("a failed model call's error is in the result, and as text only in records and events", async () => {
    const keel = createKeel();
    const error = Object.assign(new Error("boom"), { secret: "hunter2" });
    const result = await keel.run(agentOf([fail(error)]), "go");
    assert.equal(result.outcome.cause.cause, error);
    const kept = JSON.stringify([await keel.records.get(result.turnId), await keel.records.events(result.turnId)]);
    assert.match(kept, /boom/);
    assert.doesNotMatch(kept, /hunter2/);
  });

  test("D-25 what a reader does to a record changes nothing that is kept", async () => {
    const keel = createKeel();
    const { turnId } = await keel.run(agentOf([text("x")]), "go");
    const record = await keel.records.get(turnId);
    try {
      record.status = "failed";
      record.transcript.length = 0;
    } catch {
      // Frozen would do as well.
    }
    assert.equal((await keel.records.get(turnId)).status, "completed");
    assert.equal((await keel.records.transcript(turnId)).length, 2);
  });
});

describe("records.list", () => {
  test("the ids of root turns are unique, and sort in the order in which the turns began, within one millisecond too", async () => {
    for (const clock of [virtualClock(), undefined]) {
      const keel = createKeel({ ...(clock && { clock }) });
      const agent = agentOf(() => text("x"));
      const ids = [];
      for (let n = 0; n < 5_000; n += 1) {
        const stream = keel.stream(agent, "go");
        ids.push(stream.turnId);
        await stream.result;
      }
      assert.deepEqual(ids.toSorted(), ids);
      assert.equal(new Set(ids).size, ids.length);
      assert.match(ids[0], /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const { items } = await keel.records.list({ limit: 10 });
      assert.deepEqual(
        items.map(({ turnId }) => turnId),
        ids.slice(-10).toReversed(),
      );
    }
  });

  test("gives the newest first, page by page, each once", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const ids = (
      await runs(
        keel,
        clock,
        Array.from({ length: 7 }, () => agentOf([text("x")])),
      )
    ).map(({ turnId }) => turnId);
    assert.deepEqual(ids, ids.toSorted());
    const pages = [];
    let cursor;
    do {
      const page = await keel.records.list({ limit: 3, ...(cursor && { cursor }) });
      pages.push(page.items.map(({ turnId }) => turnId));
      cursor = page.cursor;
    } while (cursor);
    assert.deepEqual(
      pages.map(({ length }) => length),
      [3, 3, 1],
    );
    assert.deepEqual(pages.flat(), ids.toReversed());
    assert.equal((await keel.records.list({ limit: 7 })).cursor, undefined);
  });

  test("gives a tree's turns the last opened first, also beyond nine, page by page", async () => {
    const keel = createKeel();
    const child = agentOf(() => text("x"), { id: "child" });
    const { turnId } = await keel.run(parentOf(child, [Array.from({ length: 12 }, () => call), text("done")]), "go");
    const expected = [...Array.from({ length: 12 }, (_, n) => `${turnId}.${12 - n}`), turnId];
    const first = await keel.records.list({ limit: 4 });
    const rest = await keel.records.list({ cursor: first.cursor });
    assert.deepEqual(
      [...first.items, ...rest.items].map((record) => record.turnId),
      expected,
    );
  });

  test("filters by status, agent, tree and parent, all of which must match", async () => {
    const keel = createKeel();
    const good = agentOf(() => text("x"), { id: "good" });
    const result = await keel.run(parentOf(good, [toolCall("run-good", { brief: "x" }), text("done")]), "go");
    await keel.run(agentOf([fail(new Error("x"))], { id: "bad" }), "go");
    const agents = async (filter) => (await keel.records.list(filter)).items.map(({ agentId }) => agentId).toSorted();
    assert.deepEqual(await agents({}), ["bad", "good", "parent"]);
    assert.deepEqual(await agents({ status: "failed" }), ["bad"]);
    assert.deepEqual(await agents({ agentId: "good" }), ["good"]);
    assert.deepEqual(await agents({ rootTurnId: result.turnId }), ["good", "parent"]);
    assert.deepEqual(await agents({ parentTurnId: result.turnId }), ["good"]);
    assert.deepEqual(await agents({ parentTurnId: result.turnId, status: "failed" }), []);
    assert.deepEqual(await agents({ status: "suspended" }), []);
  });

  test("refuses filters that cannot be", async () => {
    const { records } = createKeel();
    for (const [filter, code] of [
      [{ state: "failed" }, "OPTION_UNKNOWN"],
      [{ status: "done" }, "OPTION_INVALID"],
      [{ limit: 0 }, "OPTION_INVALID"],
      [{ cursor: 5 }, "OPTION_INVALID"],
    ]) {
      await assert.rejects(records.list(filter), { code });
    }
  });

  test("D-40 keep.trees bounds how many finished trees are kept, children with their root, live ones always", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock, keep: { trees: 2 } });
    const live = keel.stream(agentOf([hang()], { id: "live" }), "go");
    const child = agentOf(() => text("x"), { id: "child" });
    const done = await runs(
      keel,
      clock,
      Array.from({ length: 4 }, () => parentOf(child, [call, text("done")])),
    );
    const kept = (await keel.records.list()).items.map(({ turnId }) => turnId).toSorted();
    assert.deepEqual(kept, [live.turnId, ...done.slice(2).flatMap(({ turnId }) => [turnId, `${turnId}.1`])].toSorted());
    assert.equal(await keel.records.get(`${done[0].turnId}.1`), undefined);
    assert.deepEqual(await keel.records.events(done[0].turnId, { tree: true }), []);
    await keel.close();
  });
});

describe("D-24 capture.redact", () => {
  const agent = () =>
    agentOf([toolCall("search", { key: "k-123", q: "x" }), text("done")], {
      tools: [toolOf("search", () => ({ token: "t-456" }))],
    });

  test("D-24 shapes payloads wherever they are read, and never what the model or the tool gets", async () => {
    const asked = [];
    const redact = (kind, toolId, value) => (
      asked.push([kind, toolId]),
      kind === "toolInput" ? { ...value, key: "***" } : kind === "toolOutput" ? { token: "***" } : "***"
    );
    const keel = createKeel({ capture: { toolIo: true, modelIo: true, redact } });
    const reader = agent();
    const stream = keel.stream(reader, "go");
    const streamed = [];
    for await (const event of stream) streamed.push(event);
    const result = await stream.result;
    const { turnId } = result;
    const read = [
      streamed,
      result.record,
      await keel.records.get(turnId),
      await keel.records.transcript(turnId),
      await keel.records.events(turnId),
      await keel.records.list(),
      await keel.records.tree(turnId),
    ];
    for (const view of read) assert.doesNotMatch(JSON.stringify(view), /k-123|t-456/);
    assert.match(JSON.stringify(reader.model.requests[1].messages), /k-123.*t-456/);
    assert.deepEqual(ofType(streamed, "tool.started")[0].input, { key: "***", q: "x" });
    assert.deepEqual(new Set(asked.map(String)), new Set(["toolInput,search", "toolOutput,search", "modelReply,"]));
  });

  test("D-24 a redact that throws hides the payload", async () => {
    const keel = createKeel({
      capture: {
        toolIo: true,
        redact: () => {
          throw new Error("bug");
        },
      },
    });
    const { turnId } = await keel.run(agent(), "go");
    const seen = JSON.stringify([await keel.records.get(turnId), await keel.records.events(turnId)]);
    assert.doesNotMatch(seen, /k-123|t-456/);
  });

  test("D-24 capture never empties the transcript", async () => {
    const { record } = await createKeel({ capture: { toolIo: false, modelIo: false } }).run(agent(), "go");
    assert.deepEqual(
      record.transcript.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant"],
    );
    assert.deepEqual(outputsIn(record.transcript)[0].value, { token: "t-456" });
  });

  test("the default keel keeps its records to itself", async () => {
    const { turnId } = await run(agent(), "go");
    assert.equal(await createKeel().records.get(turnId), undefined);
  });
});
