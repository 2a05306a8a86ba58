import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { callerOf, leafOf, nestedRun } from "../scenes/nested-runs.js";

const here = (path) => JSON.stringify(new URL(path, import.meta.url).href);

const preamble = `
import { createKeel } from ${here("../../js/index.js")};
import { callerOf, leafOf, ONE_CALL } from ${here("../scenes/nested-runs.js")};
import { agentOf } from ${here("../scenes/small-agents.js")};
let faults = 0;
for (const name of ["unhandledRejection", "uncaughtException"]) process.on(name, (error) => { faults += 1; console.error(name, error); });
const settle = async () => { for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve)); };
const keel = createKeel({ limits: { maxNestedDepth: 2 } });
`;

const epilogue = `
await settle();
console.log(faults === 0 ? "quiet" : faults + " faults");
`;

/** Runs a program in a process of its own, under the runtime of this test; gives its exit code and what it said. */
function runProgram(code) {
  const args = process.versions.bun
    ? ["-e", preamble + code + epilogue]
    : ["--input-type=module", "-e", preamble + code + epilogue];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: fileURLToPath(new URL("../..", import.meta.url)) },
      (error, stdout, stderr) => {
        resolve({ code: error ? error.code : 0, said: stdout.trim(), stderr });
      },
    );
  });
}

const quiet = { code: 0, said: "quiet", stderr: "" };

test("BL-032 fire-and-forget calls: refused, thrown, hanging when the caller settles, and after it: no rejection is left unhandled", async () => {
  const result = await runProgram(`
    const { leaf } = leafOf(({ way }) => {
      if (way === "throws") throw new Error("thrown");
      return way === "hangs" ? new Promise(() => {}) : "ok";
    });
    let kept;
    const caller = callerOf((context) => {
      kept = context;
      for (const way of ["ok", "throws", "hangs"]) context.callTool("leaf", { way });
      context.callTool("ghost", {});
      context.callTool("leaf", 7);
      context.callTool(undefined, {});
      context.callTool("leaf", {}, { signal: AbortSignal.abort() });
      return "ok";
    });
    const { outcome } = await keel.run(agentOf(ONE_CALL, { tools: [caller, leaf] }), "go");
    if (outcome.status !== "completed") throw new Error(outcome.status);
    kept.callTool("leaf", {});
    await settle();
  `);
  assert.deepEqual(result, quiet);
});

test("BL-032 an abort while nested tools run, in bodies that reject with an AbortError, with nobody awaiting run()", async () => {
  const result = await runProgram(`
    const { leaf } = leafOf((_input, { signal }) => new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    }));
    const caller = callerOf(({ callTool }) => {
      callTool("leaf", {});
      return callTool("leaf", {});
    });
    const controller = new AbortController();
    keel.run(agentOf(ONE_CALL, { tools: [caller, leaf] }), "go", { signal: controller.signal });
    await settle();
    controller.abort();
    await settle();
  `);
  assert.deepEqual(result, quiet);
});

test("BL-067 10,000 nested calls started in one tick from inside a body: all settle, and the event loop keeps turning", async () => {
  const count = 10_000;
  const { leaf } = leafOf(({ n }) => n);
  let sum = 0;
  let turns = 0;
  const caller = callerOf(async ({ callTool }) => {
    const calls = Array.from({ length: count }, (_, n) => callTool("leaf", { n }));
    const tick = setInterval(() => (turns += 1), 1);
    for (const { value } of await Promise.all(calls)) sum += value;
    clearInterval(tick);
  });
  const { result } = await nestedRun({ tools: [caller, leaf], agent: { budget: { toolCalls: count + 1 } } });
  assert.equal(result.outcome.status, "completed");
  assert.equal(sum, (count * (count - 1)) / 2);
  assert.equal(result.record.budget.used.nestedCalls, count);
  assert.ok(turns > 0, "no timer ran while the calls did");
});

test("BL-067 10,000 exclusive nested calls queue up and all settle in order", async () => {
  const count = 10_000;
  const order = [];
  const { leaf } = leafOf(({ n }) => void order.push(n), { concurrency: "exclusive" });
  const caller = callerOf(({ callTool }) =>
    Promise.all(Array.from({ length: count }, (_, n) => callTool("leaf", { n }))).then(() => "ok"),
  );
  await nestedRun({ tools: [caller, leaf], agent: { budget: { toolCalls: count + 1 } } });
  assert.equal(order.length, count);
  assert.ok(order.every((n, index) => n === index));
});
