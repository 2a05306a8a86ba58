/**
 * Programs that a test starts as processes of their own: `process-cases.js <name>`. Each one prints `end` when its last line
 * has run and, on exit, how many errors reached the process.
 */

import { writeSync } from "node:fs";

import { asTool, createKeel, defineAgent, definePart, defineTool, run, stream } from "../../../js/index.js";
import { fail, hang, scriptedModel, text, toolCall } from "../../../js/testing/index.js";

let processErrors = 0;
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error) => {
    processErrors += 1;
    writeSync(2, `${event}: ${String(error)}\n`);
  });
}
process.on("exit", (code) => writeSync(1, `${JSON.stringify({ code, processErrors })}\n`));

const anything = { type: "object" };
const agentOf = (/** @type {unknown[]} */ script, /** @type {object} */ rest = {}) =>
  defineAgent({ id: "agent", model: scriptedModel(script), ...rest });
const throwing = defineTool({
  id: "break",
  input: anything,
  access: "public",
  execute: () => {
    throw new Error("broken tool");
  },
});
const handled = () => agentOf([toolCall("break", {}), text("went on")], { tools: [throwing] });
const failing = () => agentOf([fail(new Error("no model today"))]);

/** @type {Record<string, () => unknown>} */
const CASES = {
  "define only": () => {
    const part = definePart({ name: "note", schema: anything, persist: "content" });
    const child = agentOf([], { emits: [part] });
    agentOf([], { id: "parent", tools: [throwing, asTool(child, { deliverable: part })] });
  },

  "a keel that is not closed": () => void createKeel(),

  "a run to its end": async () => {
    const child = defineAgent({ id: "child", model: scriptedModel([text("below")]) });
    const result = await run(
      agentOf([toolCall("run-child", { brief: "go" }), text("done")], { tools: [asTool(child)] }),
      "go",
    );
    expectStatus(result, "completed");
  },

  "a run with a deadline far away": async () => {
    expectStatus(await run(agentOf([text("done")], { budget: { timeMs: 3_600_000 } }), "go"), "completed");
  },

  "a run to its cancellation": async () => {
    const stop = new AbortController();
    const agent = agentOf([() => (queueMicrotask(() => stop.abort(new Error("enough"))), hang())]);
    expectStatus(await run(agent, "go", { signal: stop.signal }), "stopped");
  },

  "a run to its failure": async () => expectStatus(await run(failing(), "go"), "failed"),

  "a run that nothing else keeps alive": async () => {
    const model = {
      id: "slow",
      generate: () => new Promise((resolve) => setTimeout(resolve, 100, { text: "late" }).unref()),
    };
    const result = await run(defineAgent({ id: "agent", model }), "go");
    expectStatus(result, "completed");
  },

  "a run that a tool's own timeout ends": async () => {
    const tool = defineTool({
      id: "slow",
      input: anything,
      access: "public",
      timeoutMs: 20,
      execute: () => new Promise(() => {}),
    });
    expectStatus(await run(agentOf([toolCall("slow", {}), text("done")], { tools: [tool] }), "go"), "completed");
  },

  "a tool that rejects with AbortError when it is stopped": async () => {
    const stop = new AbortController();
    const tool = defineTool({
      id: "long",
      input: anything,
      access: "public",
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
          queueMicrotask(() => stop.abort());
        }),
    });
    expectStatus(
      await run(agentOf([toolCall("long", {})], { tools: [tool] }), "go", { signal: stop.signal }),
      "stopped",
    );
  },

  "a tool that rejects long after it was stopped": async () => {
    const stop = new AbortController();
    /** @type {(error: Error) => void} */
    let reject = () => {};
    const execute = () =>
      new Promise((_resolve, rejectCall) => {
        reject = rejectCall;
        queueMicrotask(() => stop.abort());
      });
    const tool = defineTool({ id: "deaf", input: anything, access: "public", execute });
    expectStatus(
      await run(agentOf([toolCall("deaf", {})], { tools: [tool] }), "go", { signal: stop.signal }),
      "stopped",
    );
    reject(new Error("too late"));
  },

  "a run nobody awaits that is stopped": () => {
    const stop = new AbortController();
    void run(agentOf([() => (queueMicrotask(() => stop.abort()), hang())]), "go", { signal: stop.signal });
  },

  "a run nobody awaits that fails": () => void run(failing(), "go"),

  "a run nobody awaits whose tool throws": () => void run(handled(), "go"),

  "a throwing tool and a stream nobody reads": async () => {
    expectStatus(await stream(handled(), "go").result, "completed");
  },

  "a throwing tool and a reader that rejects": async () => {
    const watched = stream(handled(), "go");
    const reader = (async () => {
      for await (const { type } of watched) if (type === "tool.failed") throw new Error("reader gave up");
    })();
    await reader.catch(() => {});
    await watched.result;
  },

  "a throwing tool and a stream broken off early": async () => {
    for await (const { type } of stream(handled(), "go")) if (type === "tool.started") break;
  },

  "a failing stream of which nothing is read": () => void stream(failing(), "go"),

  "a failing stream of which only the result is read": async () => {
    expectStatus(await stream(failing(), "go").result, "failed");
  },

  "a failing stream of which only the text is read": async () => {
    await drain(stream(failing(), "go").textStream);
  },

  "a failing stream of which only the events are read": async () => {
    await drain(stream(failing(), "go"));
  },

  "a failing stream of which only the tree is read": async () => {
    await drain(stream(failing(), "go").inspect());
  },

  "a failing stream of which only the web stream is read": async () => {
    await drain(stream(failing(), "go").toReadableStream());
  },
};

/** @param {AsyncIterable<unknown>} items */
async function drain(items) {
  try {
    for await (const _ of items);
  } catch {
    // A reader may be told of the failure; that is not what these cases are about.
  }
}

/**
 * @param {{ outcome: { status: string } }} result
 * @param {string} status
 */
function expectStatus({ outcome }, status) {
  if (outcome.status !== status) throw new Error(`expected ${status}, found ${JSON.stringify(outcome)}`);
}

const action = CASES[process.argv[2] ?? ""];
if (action === undefined) throw new Error(`unknown case: ${process.argv[2]}`);
await action();
writeSync(1, "end\n");
