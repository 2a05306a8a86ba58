/** Programs about worker threads, each a process of its own: `worker-cases.js <name>` prints `ok` when all went well. */

import { Worker } from "node:worker_threads";

const ROUNDS = 50;

/** @type {Record<string, () => Promise<void>>} */
const CASES = {
  "only workers load it": async () => {
    for (let round = 0; round < 3; round += 1) await Promise.all([delegateInWorker(), delegateInWorker()]);
  },

  "the main thread, then a worker, then the main thread": async () => {
    await delegateHere();
    await delegateInWorker();
    await delegateHere();
  },

  "a worker, then the main thread, then a worker": async () => {
    await delegateInWorker();
    await delegateHere();
    await delegateInWorker();
  },

  "workers are terminated with calls in flight": async () => {
    const { defineAgent, defineTool, run } = await import("../../../js/index.js");
    const { scriptedModel, text, toolCall } = await import("../../../js/testing/index.js");
    const terminateAll = defineTool({
      id: "terminate-all",
      input: { type: "object" },
      access: "public",
      execute: async () => {
        for (let round = 0; round < ROUNDS; round += 1) await terminateMidRun();
        return "all terminated";
      },
    });
    const model = scriptedModel([toolCall("terminate-all", {}), text("unaffected")]);
    const result = await run(defineAgent({ id: "main", model, tools: [terminateAll] }), "go");
    expect(result.text, "unaffected");
    await delegateInWorker();
  },
};

async function delegateHere() {
  const { asTool, defineAgent, run } = await import("../../../js/index.js");
  const { scriptedModel, text, toolCall } = await import("../../../js/testing/index.js");
  const child = defineAgent({ id: "child", model: scriptedModel([text("below")]) });
  const model = scriptedModel([toolCall("run-child", { brief: "go" }), text("done")]);
  const { outcome } = await run(defineAgent({ id: "agent", model, tools: [asTool(child)] }), "go");
  expect(outcome.status, "completed");
}

async function delegateInWorker() {
  const worker = startWorker("delegate");
  const exited = new Promise((resolve) => worker.once("exit", resolve));
  expect(await messageFrom(worker), "completed");
  expect(await exited, 0);
}

async function terminateMidRun() {
  const worker = startWorker("hold calls");
  expect(await messageFrom(worker), "in flight");
  await worker.terminate();
}

/** @param {string} role */
function startWorker(role) {
  return new Worker(new URL("worker-agent.js", import.meta.url), { workerData: { role } });
}

/** @param {Worker} worker */
function messageFrom(worker) {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the worker ended with ${code} before it said anything`)));
  });
}

/**
 * @param {unknown} found
 * @param {unknown} expected
 */
function expect(found, expected) {
  if (found !== expected) throw new Error(`expected ${String(expected)}, found ${String(found)}`);
}

const action = CASES[process.argv[2] ?? ""];
if (action === undefined) throw new Error(`unknown case: ${process.argv[2]}`);
await action();
console.log("ok");
