import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as v from "valibot";
import { z } from "zod";

import { createKeel, definePart, run } from "../../js/index.js";
import { hang, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, outputsIn, parentOf, toolOf } from "../scenes/small-agents.js";

const finding = definePart({
  name: "finding",
  persist: "content",
  schema: {
    type: "object",
    properties: { agent: { type: "string" }, id: { type: "number" } },
    required: ["agent", "id"],
    additionalProperties: false,
  },
});
const good = { agent: "a", id: 1 };
const submit = (value) => toolCall("submit_finding", value);
const childOf = (script, rest = {}) => agentOf(script, { id: "child", emits: [finding], ...rest });

/** A keel in which a parent asks `child` for a finding, and what is left to look at. */
async function delegate(child, connection = {}, { keelOptions = {}, onResult = [text("done")] } = {}) {
  const keel = createKeel(keelOptions);
  const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), ...onResult], {
    deliverable: finding,
    ...connection,
  });
  const result = await keel.run(parent, "go");
  return {
    result,
    output: outputsIn(parent.model.requests.at(-1).messages)[0],
    record: await keel.records.get(`${result.turnId}.1`),
    events: await keel.records.events(`${result.turnId}.1`),
  };
}

describe("the submit tool", () => {
  test("NT-15 stands among the child's tools with the part's schema, and is no tool call", async () => {
    const child = childOf([[submit(good), toolCall("note")]], { tools: [toolOf("note")], budget: { toolCalls: 1 } });
    const { record, events, output } = await delegate(child);
    assert.deepEqual(
      child.model.requests[0].tools.map(({ name }) => name),
      ["note", "submit_finding"],
    );
    assert.deepEqual(child.model.requests[0].tools[1].inputSchema, finding.schema.json);
    assert.deepEqual(output, { type: "json", value: { ok: true, deliverable: good } });
    assert.deepEqual(record.budget.used, { steps: 1, toolCalls: 1, nestedCalls: 0, timeMs: record.budget.used.timeMs });
    assert.deepEqual(
      ofType(events, "tool.started").map(({ toolId }) => toolId),
      ["note"],
    );
  });

  test("NT-15 is there only where there is a contract", async () => {
    const child = childOf([submit(good), text("fine")]);
    const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")]);
    await run(parent, "go");
    assert.deepEqual(child.model.requests[0].tools, []);
    assert.deepEqual(lastOutputs(child), [
      { type: "error-text", value: "tool not found: submit_finding\navailable tools: none" },
    ]);
  });

  test("D-15 NT-15 no middleware, access rule or tool.* event sees it; the step's own event counts it", async () => {
    const { events, record } = await delegate(childOf([submit(good)]));
    assert.deepEqual(
      events.map(({ type }) => type),
      ["turn.started", "step.started", "step.completed", "part.emitted", "turn.completed"],
    );
    assert.equal(events[2].toolCalls, 1);
    assert.deepEqual(record.submits, { tried: 1, accepted: 1 });
  });

  for (const [name, schema, value] of [
    ["an array", { type: "array", items: { type: "number" } }, [1, 2]],
    ["a string", { type: "string" }, "all of it"],
    ["anything at all", {}, null],
  ]) {
    test(`D-15 a part that is ${name} is submitted as { value }`, async () => {
      const part = definePart({ name: "thing", schema, persist: "content" });
      const agent = agentOf([toolCall("submit_thing", { value })], { emits: [part] });
      const result = await run(agent, "go", { deliverable: part });
      assert.equal(agent.model.requests[0].tools[0].inputSchema.type, "object");
      assert.deepEqual([result.outcome.status, result.deliverable], ["completed", value]);
    });
  }

  test("D-15 the wrapper's own absence is an issue like any other", async () => {
    const part = definePart({ name: "thing", schema: { type: "string" }, persist: "content" });
    const agent = agentOf(
      [
        toolCall("submit_thing", {}),
        toolCall("submit_thing", { value: 5 }),
        toolCall("submit_thing", { value: "yes" }),
      ],
      { emits: [part] },
    );
    const result = await run(agent, "go", { deliverable: part });
    assert.equal(result.deliverable, "yes");
    const [first, second] = lastOutputs(agent);
    assert.match(first.value, /\/value/);
    assert.match(second.value, /string/);
  });

  test("NT-20 BL-048 a contract changes no byte of what other tools see", async () => {
    const seen = { with: [], without: [] };
    const args = '{"b":1,"a":[1.0,2e2],"__proto__":{"x":1}}';
    for (const how of ["with", "without"]) {
      const tool = toolOf("note", (input) => void seen[how].push(JSON.stringify(input)));
      const child = childOf([toolCall("note", args), how === "with" ? submit(good) : text("fine")], { tools: [tool] });
      const parent = parentOf(
        child,
        [toolCall("run-child", { brief: "x" }), text("done")],
        how === "with" ? { deliverable: finding } : {},
      );
      await run(parent, "go");
    }
    assert.deepEqual(seen.with, seen.without);
    assert.equal(seen.with.length, 1);
  });

  test("BL-049 a child uses its tools, then submits", async () => {
    const child = childOf([toolCall("one"), toolCall("two"), submit(good)], { tools: [toolOf("one"), toolOf("two")] });
    const { output, record } = await delegate(child);
    assert.deepEqual(output.value, { ok: true, deliverable: good });
    assert.deepEqual([record.budget.used.toolCalls, record.budget.used.steps], [2, 3]);
  });
});

describe("a valid submit", () => {
  test("NT-16 the other calls of its step settle, then the turn completes", async () => {
    const clock = virtualClock();
    let done = false;
    const slow = toolOf("slow", () => new Promise((resolve) => clock.setTimer(100, () => resolve((done = true)))));
    const agent = childOf([[submit(good), toolCall("slow")]], { tools: [slow] });
    const running = createKeel({ clock }).run(agent, "go", { deliverable: finding });
    await clock.advance(100);
    const result = await running;
    assert.deepEqual(
      [done, result.outcome.status, result.deliverable, result.record.budget.used.timeMs],
      [true, "completed", good, 100],
    );
    assert.deepEqual(outputsIn(result.record.transcript), [
      { type: "json", value: { ok: true } },
      { type: "json", value: true },
    ]);
  });

  test("NT-16 a second submit in the same step is answered with an error, and the first one counts", async () => {
    const agent = childOf([[submit(good), submit({ agent: "b", id: 2 })]]);
    const result = await run(agent, "go", { deliverable: finding });
    assert.deepEqual(result.deliverable, good);
    assert.deepEqual(outputsIn(result.record.transcript)[1], {
      type: "error-text",
      value: "the deliverable was already accepted in this step",
    });
    assert.deepEqual(result.parts, [{ part: "finding", value: good }]);
  });

  test("NT-16 an invalid submit before a valid one in the same step does not matter", async () => {
    const result = await run(childOf([[submit({}), submit(good)]]), "go", { deliverable: finding });
    assert.deepEqual([result.outcome.status, result.record.submits], ["completed", { tried: 2, accepted: 2 }]);
  });

  test("D-3 a stop while its siblings still run wins, and the record keeps the deliverable as accepted", async () => {
    const stop = new AbortController();
    const agent = childOf([[submit(good), toolCall("slow")]], {
      tools: [toolOf("slow", () => new Promise(() => queueMicrotask(() => stop.abort("no"))))],
    });
    const result = await run(agent, "go", { deliverable: finding, signal: stop.signal });
    assert.deepEqual(result.outcome, { status: "stopped", reason: "no" });
    assert.deepEqual(
      [result.record.submits, result.record.parts],
      [{ tried: 1, accepted: 1 }, [{ part: "finding", value: good }]],
    );
  });

  test("D-3 so does a deadline", async () => {
    const clock = virtualClock();
    const agent = childOf([[submit(good), toolCall("slow")]], { tools: [toolOf("slow", () => new Promise(() => {}))] });
    const running = createKeel({ clock }).run(agent, "go", { deliverable: finding, budget: { timeMs: 50 } });
    await clock.advance(50);
    const result = await running;
    assert.deepEqual([result.outcome.cause.code, result.record.submits.accepted], ["BUDGET_TIME", 1]);
  });

  test("D-30 the root may have a contract too, with a typed result", async () => {
    const result = await run(childOf([submit(good)]), "go", { deliverable: { part: finding, nudges: 0 } });
    assert.deepEqual(result.orThrow().deliverable, good);
    await assert.rejects(run(agentOf([submit(good)]), "go", { deliverable: finding }), {
      code: "DELIVERABLE_NOT_EMITTED",
    });
    const ephemeral = definePart({ name: "x", schema: anything });
    await assert.rejects(run(agentOf([], { emits: [ephemeral] }), "go", { deliverable: ephemeral }), {
      code: "DELIVERABLE_NOT_CONTENT",
    });
    await assert.rejects(run(childOf([], { tools: [toolOf("submit_finding")] }), "go", { deliverable: finding }), {
      code: "SUBMIT_TOOL_TAKEN",
    });
  });

  for (const [vendor, schema] of [
    ["zod", z.object({ at: z.string().transform((at) => at.toUpperCase()), n: z.number().default(7) })],
    [
      "valibot",
      v.object({
        at: v.pipe(
          v.string(),
          v.transform((at) => at.toUpperCase()),
        ),
        n: v.optional(v.number(), 7),
      }),
    ],
  ]) {
    test(`BL-119 D-26 a deliverable is what its ${vendor} schema hands on, applied once`, async () => {
      const part = definePart({ name: "report", schema, persist: "content" });
      const child = agentOf([toolCall("submit_report", { at: "here" })], { id: "child", emits: [part] });
      const parent = parentOf(child, [toolCall("run-child", { brief: "x" }), text("done")], { deliverable: part });
      await run(parent, "go");
      assert.deepEqual(lastOutputs(parent)[0].value, { ok: true, deliverable: { at: "HERE", n: 7 } });
    });
  }

  test("BL-065 a schema that starts a run of its own while it validates freezes nothing", async () => {
    let inner;
    const other = agentOf(() => text("inner"));
    const schema = z.object({ n: z.number() }).refine(async () => {
      inner = await run(other, "go");
      return true;
    });
    const part = definePart({ name: "report", schema, persist: "content" });
    const result = await run(agentOf([toolCall("submit_report", { n: 1 })], { emits: [part] }), "go", {
      deliverable: part,
    });
    assert.deepEqual([result.outcome.status, inner.text], ["completed", "inner"]);
  });
});

describe("an invalid submit", () => {
  test("NT-17 BL-046 is answered with paths and rules, and the turn goes on within its steps", async () => {
    const child = childOf([submit({ agent: 5, extra: true }), submit(good)], { budget: { steps: 2 } });
    const { output, record } = await delegate(child);
    assert.deepEqual(output.value, { ok: true, deliverable: good });
    const [{ type, value }] = lastOutputs(child);
    assert.equal(type, "error-text");
    for (const hint of [/agent/, /id/, /extra/]) assert.match(value, hint);
    assert.deepEqual(record.submits, { tried: 2, accepted: 2 });
  });

  test("NT-17 BL-046 its raw payload is in the record when payloads are captured, and redacted on the way out", async () => {
    const child = () => childOf([submit({ agent: 5 }), submit(good)]);
    const { record } = await delegate(child(), {}, { keelOptions: { capture: { toolIo: true } } });
    assert.deepEqual(
      record.submits.rejected.map(({ payload }) => payload),
      [{ agent: 5 }],
    );
    assert.deepEqual(record.submits.rejected[0].issues.map(({ path }) => path).toSorted(), ["/agent", "/id"]);
    const redact = (kind, _toolId, value) => (kind === "submit" ? "hidden" : value);
    const { record: hidden } = await delegate(child(), {}, { keelOptions: { capture: { toolIo: true, redact } } });
    assert.deepEqual(
      hidden.submits.rejected.map(({ payload }) => payload),
      ["hidden"],
    );
    assert.equal((await delegate(child())).record.submits.rejected, undefined);
  });

  test("NT-17 at most ten issues and 2 KiB, however much is wrong", async () => {
    const part = definePart({
      name: "list",
      schema: { type: "object", additionalProperties: { type: "number" } },
      persist: "content",
    });
    const bad = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`key_${index}_${"x".repeat(300)}`, "no"]),
    );
    const agent = agentOf([toolCall("submit_list", bad), text("gave up")], { emits: [part] });
    const { outcome } = await run(agent, "go", { deliverable: { part, nudges: 0 } });
    assert.equal(outcome.cause.code, "DELIVERABLE_INVALID");
    assert.ok(outcome.cause.issues.length > 0 && outcome.cause.issues.length <= 10);
    assert.ok(lastOutputs(agent)[0].value.length < 2_400, String(lastOutputs(agent)[0].value.length));
  });

  test("NT-17 arguments that are no JSON are an invalid submit", async () => {
    const child = childOf([submit('{"agent":"a","id":1}}'), submit(good)]);
    const { output, record } = await delegate(child);
    assert.equal(output.value.ok, true);
    assert.match(lastOutputs(child)[0].value, /invalid JSON/);
    assert.deepEqual(record.submits, { tried: 2, accepted: 2 });
  });

  test("D-26 the issues of a refinement are answered in the same form", async () => {
    const part = definePart({
      name: "even",
      persist: "content",
      schema: z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") }),
    });
    const agent = agentOf([toolCall("submit_even", { n: 1 }), toolCall("submit_even", { n: 2 })], { emits: [part] });
    const result = await run(agent, "go", { deliverable: part });
    assert.deepEqual(result.deliverable, { n: 2 });
    assert.match(lastOutputs(agent)[0].value, /\/n.*must be even/);
  });

  test("D-3 on the last granted step it is BUDGET_STEPS, with its issues", async () => {
    const { output, events } = await delegate(childOf([submit({ agent: "a" })], { budget: { steps: 1 } }), {
      deliverable: { part: finding, nudges: 5 },
    });
    assert.equal(output.value.cause.code, "BUDGET_STEPS");
    assert.deepEqual(
      output.value.cause.issues.map(({ path }) => path),
      ["/id"],
    );
    assert.deepEqual(ofType(events, "nudge.sent"), []);
  });
});

describe("nudges", () => {
  test("NT-18 BL-047 a child that ends without its deliverable is reminded, with the submit tool as its only way out", async () => {
    const child = childOf([[text("to work"), toolCall("note")], text("all done"), submit(good)], {
      tools: [toolOf("note")],
      budget: { steps: 2 },
    });
    const { output, record, events } = await delegate(child);
    assert.deepEqual(output.value, { ok: true, deliverable: good });
    const nudged = child.model.requests[2];
    assert.deepEqual(
      nudged.tools.map(({ name }) => name),
      ["submit_finding"],
    );
    assert.deepEqual(nudged.toolChoice, { type: "tool", toolName: "submit_finding" });
    const { role, content } = nudged.messages.at(-1);
    assert.deepEqual([role, /submit_finding/.test(content)], ["user", true]);
    assert.deepEqual([record.budget.used.steps, record.usage.nudges], [2, 1]);
    assert.deepEqual(
      ofType(events, "nudge.sent").map(({ nudge, part }) => [nudge, part]),
      [[1, "finding"]],
    );
    assert.deepEqual(
      ofType(events, "step.started").map(({ step }) => step),
      [1, 2, 3],
    );
  });

  test("BL-047 after an invalid submit the reminder names what is missing and what is unknown, bounded", async () => {
    const child = childOf([submit({ to: "x" }), text("that was it"), submit(good)]);
    const { events, output } = await delegate(child);
    assert.equal(output.value.ok, true);
    const reminder = child.model.requests[2].messages.at(-1).content;
    for (const hint of [/agent/, /\bid\b/, /\bto\b/]) assert.match(reminder, hint);
    assert.ok(reminder.length < 2_400);
    assert.ok(ofType(events, "nudge.sent")[0].issues.length > 0);
  });

  for (const [nudges, calls] of [
    [0, 1],
    [1, 2],
    [3, 4],
  ]) {
    test(`NT-18 ${nudges} nudges allow ${calls} model calls, then DELIVERABLE_MISSING`, async () => {
      const child = childOf(() => text("no"));
      const { output, record } = await delegate(child, { deliverable: { part: finding, nudges } });
      assert.deepEqual(
        [child.model.requests.length, output.value.cause.code, record.usage.nudges],
        [calls, "DELIVERABLE_MISSING", nudges],
      );
      assert.deepEqual(record.submits, { tried: 0 });
    });
  }

  test("NT-11 NT-18 the plain form grants one", async () => {
    const child = childOf(() => text("no"));
    await delegate(child);
    assert.equal(child.model.requests.length, 2);
  });

  test("NT-18 with invalid submits only it is DELIVERABLE_INVALID, with the last one's issues", async () => {
    const child = childOf([submit({ agent: "a" }), text("no"), submit({ id: 1 }), text("never")]);
    const { output, record } = await delegate(child);
    assert.deepEqual(
      [output.value.cause.code, output.value.cause.issues.map(({ path }) => path)],
      ["DELIVERABLE_INVALID", ["/agent"]],
    );
    assert.deepEqual(record.submits, { tried: 2 });
    assert.equal(child.model.requests.length, 3);
  });

  test("NT-18 other calls in a nudge round are answered as unknown, and nothing of them runs", async () => {
    let ran = 0;
    const child = childOf([text("no"), [toolCall("note"), submit({})], submit(good)], {
      tools: [toolOf("note", () => (ran += 1))],
    });
    const { output } = await delegate(child, { deliverable: { part: finding, nudges: 2 } });
    assert.deepEqual([ran, output.value.ok], [0, true]);
    assert.match(lastOutputs(child)[0].value, /^tool not found: note/);
  });

  test("NT-18 nudges are bound by time", async () => {
    const clock = virtualClock();
    const child = childOf([text("no"), hang()]);
    const running = delegate(
      child,
      { deliverable: { part: finding, nudges: 5 }, budget: { timeMs: 100 } },
      { keelOptions: { clock } },
    );
    await clock.advance(100);
    const { output } = await running;
    assert.equal(output.value.cause.code, "BUDGET_TIME");
  });

  test("BL-044 a minimal value after invalid ones is accepted, and the record shows how often and which", async () => {
    const child = childOf([submit({}), text("no"), submit({ agent: 1 }), submit({ agent: "", id: 0 })]);
    const { output, record } = await delegate(child, { deliverable: { part: finding, nudges: 2 } });
    assert.deepEqual(output.value, { ok: true, deliverable: { agent: "", id: 0 } });
    assert.deepEqual(record.submits, { tried: 3, accepted: 3 });
  });

  test("NT-19 a contract is completed with a validated deliverable or not at all", async () => {
    for (const script of [
      [submit(good)],
      [text("no"), submit(good)],
      [submit({}), submit({}), text("no"), text("no")],
      [text("no"), text("no")],
      [submit({ agent: 1, id: 1 }), text("no"), submit({ agent: 1 }), text("no")],
    ]) {
      const result = await run(childOf(script), "go", { deliverable: finding });
      assert.equal(result.outcome.status === "completed", result.deliverable !== undefined);
      assert.equal(result.outcome.status === "completed", result.record.submits.accepted !== undefined);
    }
  });
});
