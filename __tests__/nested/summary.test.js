import assert from "node:assert/strict";
import { test } from "node:test";

import { toolError, toolResult } from "../../js/index.js";
import { callerOf, leafOf, metadataOf, nestedRun, summaryOf } from "../scenes/nested-runs.js";
import { ofType, toolOf } from "../scenes/small-agents.js";

const capture = { toolIo: true };
const withoutDuration = ({ duration_ms, ...entry }) => {
  assert.equal(typeof duration_ms, "number");
  return entry;
};

test("NC-17 with payloads captured, an entry has its arguments, and a failed one its error", async () => {
  const { leaf } = leafOf();
  const caller = callerOf(async ({ callTool }) => {
    await callTool("leaf", { n: 7 });
    await callTool("ghost").catch(() => {});
  });
  const { events, result } = await nestedRun({ tools: [caller, leaf], capture });
  assert.deepEqual(summaryOf(events).map(withoutDuration), [
    { id: "p1/1", name: "leaf", status: "ok", args: '{"n":7}' },
    { id: "p1/2", name: "ghost", status: "failed", args: "{}", error: "tool not found: ghost" },
  ]);
  assert.equal(JSON.stringify(result.record.transcript).includes("nested_calls"), false);
});

for (const [count, truncated] of [
  [31, undefined],
  [32, undefined],
  [33, 1],
  [40, 8],
]) {
  test(`NC-${count === 40 ? "18" : "22"} ${count} calls: at most 32 entries, ${truncated ?? "none"} counted as truncated`, async () => {
    const { leaf } = leafOf();
    const caller = callerOf(async ({ callTool }) => {
      for (let n = 0; n < count; n += 1) await callTool("leaf", { text: "x".repeat(4_000) });
    });
    const { events } = await nestedRun({ tools: [caller, leaf], capture, agent: { budget: { toolCalls: 100 } } });
    const metadata = metadataOf(events);
    assert.equal(metadata.nested_calls.length, Math.min(count, 32));
    assert.equal(metadata.nested_calls_truncated, truncated);
    assert.equal(Object.hasOwn(metadata, "nested_calls_truncated"), truncated !== undefined);
    for (const { args } of metadata.nested_calls) {
      assert.equal(Buffer.byteLength(args), 1_027);
      assert.ok(args.startsWith('{"text":"xxx') && args.endsWith("x..."));
    }
  });
}

test("NC-18 arguments of exactly 1024 bytes stay whole, one more byte cuts them", async () => {
  const { leaf } = leafOf();
  const padding = '{"t":""}'.length;
  const caller = callerOf(async ({ callTool }) => {
    await callTool("leaf", { t: "x".repeat(1_024 - padding) });
    await callTool("leaf", { t: "x".repeat(1_025 - padding) });
  });
  const { events } = await nestedRun({ tools: [caller, leaf], capture });
  const [whole, cut] = summaryOf(events).map(({ args }) => args);
  assert.equal(whole, `{"t":"${"x".repeat(1_024 - padding)}"}`);
  assert.equal(cut, `{"t":"${"x".repeat(1_025 - padding)}"}`.slice(0, 1_024) + "...");
});

test("NC-19 cutting arguments and errors never breaks a character", async () => {
  const { leaf } = leafOf(({ t }) => {
    throw toolError(t);
  });
  const texts = ["é", "€", "😀"].flatMap((char) => [0, 1, 2, 3].map((shift) => "x".repeat(shift) + char.repeat(600)));
  const caller = callerOf(async ({ callTool }) => {
    for (const t of texts) await callTool("leaf", { t });
  });
  const { events } = await nestedRun({ tools: [caller, leaf], capture });
  for (const [index, { args, error }] of summaryOf(events).entries()) {
    assert.ok(`{"t":"${texts[index]}"}`.startsWith(args.slice(0, -3)) && args.endsWith("..."));
    assert.ok(texts[index].startsWith(error.slice(0, -3)) && error.endsWith("..."));
    assert.ok(Buffer.byteLength(args) > 1_020 && Buffer.byteLength(args) <= 1_027);
    assert.ok(Buffer.byteLength(error) > 252 && Buffer.byteLength(error) <= 259);
    assert.equal(JSON.stringify(args).includes("\\ud"), false);
  }
});

for (const [length, shown] of [
  [256, 256],
  [257, 259],
]) {
  test(`NC-19 an error of ${length} bytes is shown in ${shown}`, async () => {
    const { leaf } = leafOf(() => toolResult({ isError: true, text: "e".repeat(length) }));
    const { events } = await nestedRun({ tools: [callerOf(({ callTool }) => callTool("leaf", {})), leaf], capture });
    assert.equal(Buffer.byteLength(summaryOf(events)[0].error), shown);
  });
}

for (const toolIo of [false, true]) {
  test(`NC-20 capture ${toolIo ? "on: an entry shows arguments and the tool's own error" : "off: an entry shows neither"}`, async () => {
    const { leaf } = leafOf(() => {
      throw toolError("no luck");
    });
    const caller = callerOf(async ({ callTool }) => {
      await callTool("leaf", { n: 1 });
      await callTool("ghost", { n: 2 }).catch(() => {});
    });
    const { events } = await nestedRun({ tools: [caller, leaf], capture: { toolIo } });
    assert.deepEqual(summaryOf(events).map(withoutDuration), [
      { id: "p1/1", name: "leaf", status: "error", ...(toolIo && { args: '{"n":1}', error: "no luck" }) },
      {
        id: "p1/2",
        name: "ghost",
        status: "failed",
        ...(toolIo && { args: '{"n":2}', error: "tool not found: ghost" }),
      },
    ]);
    // The event's own error is not a captured payload.
    assert.equal(ofType(events, "tool.completed")[0].error, "no luck");
  });
}

test("NC-20 an error without a text is left out", async () => {
  const { leaf } = leafOf(() => toolResult({ isError: true, text: "" }));
  const { events } = await nestedRun({ tools: [callerOf(({ callTool }) => callTool("leaf", {})), leaf], capture });
  assert.deepEqual(summaryOf(events).map(withoutDuration), [{ id: "p1/1", name: "leaf", status: "error", args: "{}" }]);
});

test("NC-21 an abandoned call says why even with capture off", async () => {
  const { leaf } = leafOf(() => new Promise(() => {}));
  const caller = callerOf(async ({ callTool }) => {
    const controller = new AbortController();
    const call = callTool("leaf", { secret: 1 }, { signal: controller.signal });
    controller.abort();
    await call.catch(() => {});
    return "went on";
  });
  const { events } = await nestedRun({ tools: [caller, leaf] });
  const [{ error, ...entry }] = summaryOf(events).map(withoutDuration);
  assert.deepEqual(entry, { id: "p1/1", name: "leaf", status: "abandoned" });
  assert.match(error, /^parent settled: /);
});

test("NC-22 no nested call, no key", async () => {
  const { events } = await nestedRun({ tools: [callerOf(() => "alone")], capture });
  assert.equal(metadataOf(events), undefined);
});

for (const [metadata, expected] of [
  [
    ["a", 1],
    ["a", 1],
  ],
  ["text", "text"],
  [{ a: 1 }, { a: 1, nested_calls: 1 }],
  [{}, { nested_calls: 1 }],
]) {
  test(`NC-23 metadata ${JSON.stringify(metadata)} ${expected.nested_calls ? "gets the summary" : "stays as it is"}`, async () => {
    const { leaf } = leafOf();
    const caller = callerOf(async ({ callTool }) => {
      await callTool("leaf", {});
      return toolResult({ value: "ok", metadata });
    });
    const { events } = await nestedRun({ tools: [caller, leaf] });
    const found = metadataOf(events);
    const counted = found?.nested_calls ? { ...found, nested_calls: found.nested_calls.length } : found;
    assert.deepEqual(counted, expected);
  });
}

for (const key of ["nested_calls", "nested_calls_truncated"]) {
  test(`NC-24 metadata with a ${key} of its own stays as it is`, async () => {
    const { leaf } = leafOf();
    const caller = callerOf(async ({ callTool }) => {
      await callTool("leaf", {});
      return toolResult({ value: "ok", metadata: { [key]: "mine" } });
    });
    const { events } = await nestedRun({ tools: [caller, leaf] });
    assert.deepEqual(metadataOf(events), { [key]: "mine" });
  });
}

test("NC-17 entries stand in the order in which the calls ended; an abandoned one comes last", async () => {
  const gates = { slow: undefined };
  const slow = new Promise((resolve) => (gates.slow = resolve));
  const { leaf } = leafOf(({ way }) => ({ slow, hangs: new Promise(() => {}) })[way]);
  const caller = callerOf(async ({ callTool }) => {
    callTool("leaf", { way: "hangs" });
    const first = callTool("leaf", { way: "slow" });
    await callTool("leaf", { way: "fast" });
    gates.slow();
    await first;
  });
  const { events } = await nestedRun({ tools: [caller, leaf] });
  assert.deepEqual(
    summaryOf(events).map(({ id, status }) => `${id} ${status}`),
    ["p1/3 ok", "p1/2 ok", "p1/1 abandoned"],
  );
});

test("NC-17 a nested caller's own summary is in its result and its event; its caller's names it alone", async () => {
  const { leaf } = leafOf();
  const middle = toolOf("middle", (_input, { callTool }) => callTool("leaf", {}).then(() => "middle"));
  let seen;
  const caller = callerOf(async ({ callTool }) => {
    seen = (await callTool("middle", {})).metadata;
  });
  const { events } = await nestedRun({ tools: [caller, middle, leaf] });
  assert.deepEqual(
    seen.nested_calls.map(({ id }) => id),
    ["p1/1/1"],
  );
  assert.deepEqual(
    summaryOf(events, "p1/1").map(({ id }) => id),
    ["p1/1/1"],
  );
  assert.deepEqual(
    summaryOf(events).map(({ id }) => id),
    ["p1/1"],
  );
});
