import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { asTool, createKeel, definePart, run } from "../../js/index.js";
import { cut, delay, fail, scriptedModel, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, collect, lastOutputs, ofType, parentOf, toolOf, unpaired } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });
const note = definePart({ name: "note", schema: anything, persist: "content" });
const draft = definePart({ name: "draft", schema: anything });

/** A child that says, emits and reports, for a connection to forward or not. */
function busyChild() {
  const work = toolOf("work", (_input, ctx) => {
    ctx.progress({ message: "half", done: 1, total: 2 });
    ctx.emit(note, { n: 1 });
    ctx.emit(draft, { n: 2 });
  });
  return agentOf([[text("child words"), toolCall("work")], text("child answer")], {
    id: "child",
    tools: [work],
    emits: [note, draft],
  });
}

describe("the order of things", () => {
  test("a turn tells what happens, numbered, timed and named", async () => {
    const clock = virtualClock({ wallNow: 1_000 });
    const keel = createKeel({ clock });
    const child = agentOf([text("fine")], { id: "child" });
    const running = keel.run(parentOf(child, [delay(10, call), text("done")]), "go");
    await clock.advance(10);
    const { turnId } = await running;
    const events = await keel.records.events(turnId, { tree: true });
    assert.deepEqual(
      events.map(({ type, agentId, at }) => [type, agentId, at]),
      [
        ["turn.started", "parent", 1_000],
        ["step.started", "parent", 1_000],
        ["step.completed", "parent", 1_010],
        ["tool.started", "parent", 1_010],
        ["turn.started", "child", 1_010],
        ["step.started", "child", 1_010],
        ["step.completed", "child", 1_010],
        ["turn.completed", "child", 1_010],
        ["tool.completed", "parent", 1_010],
        ["step.started", "parent", 1_010],
        ["step.completed", "parent", 1_010],
        ["turn.completed", "parent", 1_010],
      ],
    );
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.ok(events.every(({ rootTurnId }) => rootTurnId === turnId));
    const opened = events.find(({ agentId }) => agentId === "child");
    assert.deepEqual(
      [opened.turnId, opened.parentTurnId, opened.callId, opened.attempt],
      [`${turnId}.1`, turnId, "call-1", 1],
    );
    assert.equal("parentTurnId" in events[0], false);
  });

  test("BL-116 every turn and call in an event was announced before, and ends before the next model call", async () => {
    const keel = createKeel();
    const child = agentOf(
      ({ messages }) => (messages.length === 1 ? [toolCall("note"), toolCall("note")] : text("x")),
      { id: "child", tools: [toolOf("note", () => Promise.resolve())] },
    );
    const { turnId } = await keel.run(parentOf(child, [[call, call], call, text("done")]), "go");
    const open = new Set();
    const known = new Set();
    for (const event of await keel.records.events(turnId, { tree: true })) {
      if (event.type === "turn.started") known.add(event.turnId);
      assert.ok(known.has(event.turnId) && (event.parentTurnId === undefined || known.has(event.parentTurnId)));
      const key = `${event.turnId} ${event.callId}`;
      if (event.type === "tool.started") open.add(key);
      if (event.type === "tool.completed") open.delete(key);
      if (event.type === "step.started") assert.ok(![...open].some((other) => other.startsWith(`${event.turnId} `)));
    }
    assert.equal(open.size, 0);
  });

  test("BL-107 however a call goes, its start has one end with the same id, and a refused call has neither", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const tools = [
      toolOf("ok"),
      toolOf("error", () => ({ kind: "tool-result", isError: true, text: "no" })),
      toolOf("throws", () => {
        throw new Error("no");
      }),
      toolOf("rejects", () => Promise.reject(new Error("no"))),
      toolOf("slow", () => new Promise(() => {}), { timeoutMs: 5 }),
      toolOf("denied", undefined, { access: () => false }),
      toolOf("hangs", () => new Promise(() => {})),
    ];
    const agent = agentOf(
      [tools.slice(0, 6).map(({ id }) => toolCall(id, {}, { id })), [toolCall("hangs", {}, { id: "hangs" })]],
      { tools },
    );
    const running = keel.stream(agent, "go");
    await clock.advance(5);
    await running.stop("enough");
    const { turnId } = await running.result;
    const events = await keel.records.events(turnId);
    assert.deepEqual(unpaired(events), []);
    const ends = Object.fromEntries(
      ofType(events, "tool.completed", "tool.failed").map(({ callId, type, isError, error, durationMs }) => [
        callId,
        [type, isError ?? error.code, durationMs],
      ]),
    );
    assert.deepEqual(ends, {
      ok: ["tool.completed", false, 0],
      error: ["tool.completed", true, 0],
      throws: ["tool.failed", "TOOL_ERROR", 0],
      rejects: ["tool.failed", "TOOL_ERROR", 0],
      slow: ["tool.completed", true, 5],
      hangs: ["tool.failed", "CANCELLED", 0],
    });
    assert.deepEqual(
      ofType(events, "tool.refused").map(({ callId }) => callId),
      ["denied"],
    );
    assert.ok(ofType(events, "tool.started").every(({ callId }) => callId !== "denied"));
  });

  test("BL-108 durations of parallel calls are their own", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const wait = (ms) => new Promise((resolve) => clock.setTimer(clock.now() + ms, resolve));
    const tools = [toolOf("a", () => wait(3)), toolOf("b", () => wait(7))];
    const running = keel.run(agentOf([[toolCall("a"), toolCall("b")], text("done")], { tools }), "go");
    await clock.advance(10);
    const events = await keel.records.events((await running).turnId);
    assert.deepEqual(
      ofType(events, "tool.completed").map(({ toolId, durationMs }) => [toolId, durationMs]),
      [
        ["a", 3],
        ["b", 7],
      ],
    );
  });

  test("BL-055 what is ready is recorded while its slow sibling still runs, and stays so after a stop", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const tools = [toolOf("fast", () => "quick"), toolOf("stalls", () => new Promise(() => {}))];
    const running = keel.stream(agentOf([[toolCall("fast"), toolCall("stalls")]], { tools }), "go");
    await clock.advance(50);
    const look = async () =>
      ofType(await keel.records.events(running.turnId), "tool.completed", "tool.failed").map(({ toolId, type }) => [
        toolId,
        type,
      ]);
    assert.deepEqual(await look(), [["fast", "tool.completed"]]);
    await running.stop();
    await running.result;
    assert.deepEqual(await look(), [
      ["fast", "tool.completed"],
      ["stalls", "tool.failed"],
    ]);
  });

  test("step.completed tells the finish reason, the usage and the number of calls; the reply only where it is captured", async () => {
    for (const modelIo of [false, true]) {
      const keel = createKeel({ capture: { modelIo } });
      const { turnId } = await keel.run(
        agentOf([[text("a"), toolCall("note"), toolCall("note")], text("b")], { tools: [toolOf("note")] }),
        "go",
      );
      const [first, second] = ofType(await keel.records.events(turnId), "step.completed");
      assert.deepEqual(
        [first.step, first.finishReason, first.toolCalls, first.usage.totalTokens, second.toolCalls],
        [1, "tool-calls", 2, 15, 0],
      );
      assert.equal(first.reply?.[0].text, modelIo ? "a" : undefined);
    }
  });

  test("payloads of calls are in events only where they are captured", async () => {
    for (const toolIo of [false, true]) {
      const keel = createKeel({ capture: { toolIo } });
      const { turnId } = await keel.run(
        agentOf([toolCall("note", { q: 1 }), text("b")], { tools: [toolOf("note", () => ({ a: 2 }))] }),
        "go",
      );
      const events = await keel.records.events(turnId);
      assert.deepEqual(
        [ofType(events, "tool.started")[0].input, ofType(events, "tool.completed")[0].output],
        toolIo ? [{ q: 1 }, { a: 2 }] : [undefined, undefined],
      );
      assert.equal(ofType(events, "tool.completed")[0].outputBytes, 7);
    }
  });
});

describe("NT-34 what a caller's stream shows of a child", () => {
  const watch = async (forward, script = [call, text("parent answer")]) => {
    const keel = createKeel();
    const stream = keel.stream(parentOf(busyChild(), script, forward ? { forward } : {}), "go");
    const [own, all] = await Promise.all([collect(stream), collect(stream.inspect())]);
    return { own, all, result: await stream.result };
  };

  test("NT-34 BL-113 nothing by default, while inspect() sees the whole tree", async () => {
    const { own, all, result } = await watch();
    assert.ok(own.every(({ turnId }) => turnId === result.turnId));
    assert.doesNotMatch(JSON.stringify(own), /child words|child answer|half|"n":/);
    assert.deepEqual([result.text, result.parts], ["parent answer", []]);
    const childs = all.filter(({ turnId }) => turnId !== result.turnId);
    assert.ok(
      childs.every(
        ({ turnId, parentTurnId, rootTurnId }) =>
          turnId === `${result.turnId}.1` && parentTurnId === result.turnId && rootTurnId === result.turnId,
      ),
    );
    assert.deepEqual(
      ofType(childs, "text.delta").map((event) => event.text),
      ["child words", "child answer"],
    );
    assert.deepEqual(
      ofType(childs, "part.emitted").map(({ part }) => part),
      ["note", "draft"],
    );
    assert.deepEqual(
      all.filter(({ turnId }) => turnId === result.turnId),
      own,
    );
  });

  test("NT-34 forward.progress shows compact progress only", async () => {
    const { own, result } = await watch({ progress: true });
    const reports = ofType(own, "tool.progress");
    assert.deepEqual(
      reports.map(({ message, done, total, toolId, callId, forwardedFrom }) => [
        message,
        done,
        total,
        toolId,
        callId,
        forwardedFrom,
      ]),
      [
        ["child step 1", 1, 25, "run-child", "call-1", `${result.turnId}.1`],
        ["half", 1, 2, "run-child", "call-1", `${result.turnId}.1`],
        ["child step 2", 2, 25, "run-child", "call-1", `${result.turnId}.1`],
      ],
    );
    assert.doesNotMatch(JSON.stringify(own), /child words|child answer/);
    assert.deepEqual(ofType(own, "part.emitted"), []);
  });

  test("NT-34 forward.parts shows the named parts only, and they are not the caller's own", async () => {
    const { own, result } = await watch({ parts: [note] });
    assert.deepEqual(
      ofType(own, "part.emitted").map(({ part, value, forwardedFrom }) => [part, value, forwardedFrom]),
      [["note", { n: 1 }, `${result.turnId}.1`]],
    );
    assert.deepEqual([result.parts, result.record.parts], [[], []]);
  });

  test("NT-34 a forwarded part never fulfils the caller's own contract", async () => {
    const child = agentOf([toolCall("submit_note", { n: 1 })], { id: "child", emits: [note] });
    const parent = agentOf([call, text("that was it")], {
      id: "parent",
      emits: [note],
      tools: [asTool(child, { deliverable: note, forward: { parts: [note] } })],
    });
    const { outcome } = await run(parent, "go", { deliverable: { part: note, nudges: 0 } });
    assert.equal(outcome.cause.code, "DELIVERABLE_MISSING");
  });

  test("NT-34 only the immediate caller's stream is forwarded to", async () => {
    const middle = parentOf(busyChild(), [call, text("middle")], { forward: { progress: true, parts: [note] } });
    const stream = createKeel().stream(
      agentOf([toolCall("run-parent", { brief: "x" }), text("top")], { id: "root", tools: [asTool(middle)] }),
      "go",
    );
    const own = await collect(stream);
    assert.deepEqual(ofType(own, "part.emitted", "tool.progress"), []);
  });

  test("NT-34 a child's outcome is never the root's", async () => {
    const child = agentOf([fail(new Error("child broke"))], { id: "child" });
    const stream = createKeel().stream(
      parentOf(child, [call, text("root fine")], { forward: { progress: true } }),
      "go",
    );
    const own = await collect(stream);
    assert.equal(ofType(own, "turn.failed").length, 0);
    assert.equal((await stream.result).outcome.status, "completed");
  });
});

describe("listeners", () => {
  test("BL-112 a reader that throws, starts runs of its own or never comes changes no outcome", async () => {
    const outcomes = [];
    for (const listen of [
      async () => {},
      async (stream) => {
        for await (const _ of stream.inspect()) throw new Error("listener");
      },
      async (stream) => {
        for await (const event of stream.inspect())
          if (event.type === "tool.started") await run(agentOf([text("inner")]), "go");
      },
    ]) {
      const keel = createKeel();
      const child = agentOf([text("fine")], { id: "child" });
      const stream = keel.stream(parentOf(child, [call, text("done")]), "go");
      await listen(stream).catch(() => {});
      const { outcome, text: said } = await stream.result;
      outcomes.push([outcome.status, said]);
    }
    assert.deepEqual(
      outcomes,
      Array.from({ length: 3 }, () => ["completed", "done"]),
    );
  });

  test("D-13 limit.reached comes once per turn and limit, however often it bites", async () => {
    const keel = createKeel();
    const agent = agentOf([Array.from({ length: 20 }, () => toolCall("note"))], {
      tools: [toolOf("note")],
      budget: { toolCalls: 2 },
    });
    const { turnId } = await keel.run(agent, "go");
    const events = await keel.records.events(turnId);
    assert.deepEqual([ofType(events, "limit.reached").length, ofType(events, "tool.refused").length], [1, 18]);
  });

  test("D-8 step.restarted and the attempt on deltas tell what is void", async () => {
    const clock = virtualClock();
    const agent = agentOf(scriptedModel([cut(""), text("whole")], { chunks: 2 }));
    const stream = createKeel({ clock }).stream(agent, "go");
    await clock.advance(2_000);
    const own = await collect(stream);
    assert.deepEqual(
      ofType(own, "step.restarted", "text.delta").map(({ type, attempt, text: said }) => [type, attempt, said]),
      [
        ["step.restarted", 2, undefined],
        ["text.delta", 2, "whole"],
      ],
    );
    assert.equal(lastOutputs(agent).length, 0);
  });
});
