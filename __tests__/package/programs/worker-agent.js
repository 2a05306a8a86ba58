/** Runs in a worker thread what its `workerData.role` says, and posts what became of it. */

import { parentPort, workerData } from "node:worker_threads";

import { asTool, defineAgent, defineTool, run } from "../../../js/index.js";
import { scriptedModel, text, toolCall } from "../../../js/testing/index.js";

const CALLS = 100;

/** @type {Record<string, () => Promise<unknown>>} */
const ROLES = { delegate, "hold calls": holdCalls };

parentPort?.postMessage(await /** @type {() => Promise<unknown>} */ (ROLES[workerData.role])());

async function delegate() {
  const child = defineAgent({ id: "child", model: scriptedModel([text("below")]) });
  const model = scriptedModel([toolCall("run-child", { brief: "go" }), text("done")]);
  const { outcome } = await run(defineAgent({ id: "agent", model, tools: [asTool(child)] }), "go");
  return outcome.status;
}

/** Has many calls in flight, says so, and never ends: the main thread terminates it. */
async function holdCalls() {
  let started = 0;
  const hold = defineTool({
    id: "hold",
    input: { type: "object" },
    access: "public",
    concurrency: "shared",
    execute: () => {
      started += 1;
      if (started === CALLS) parentPort?.postMessage("in flight");
      return new Promise(() => {});
    },
  });
  const calls = Array.from({ length: CALLS }, () => toolCall("hold", {}));
  const budget = { toolCalls: CALLS };
  const limits = { maxToolConcurrency: CALLS };
  await run(defineAgent({ id: "holder", model: scriptedModel([calls]), tools: [hold], budget, limits }), "go");
  return "ended";
}
