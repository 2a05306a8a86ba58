import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, test } from "node:test";

import { asTool, createKeel, defineAgent, definePart, defineSource, run } from "../../js/index.js";
import { text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, anything, outputsIn, parentOf, toolOf } from "../scenes/small-agents.js";

const storage = new AsyncLocalStorage();
const callbacks = [
  "instructions",
  "source",
  "access",
  "schema",
  "part schema",
  "brief",
  "concurrency",
  "model",
  "tool",
  "tool later",
];

/** A standard schema that takes anything and notes where it was asked. */
const noting = (note, as) => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => (note(as), { value }),
    jsonSchema: { input: () => anything, output: () => anything },
  },
});

/** An agent each of whose callbacks notes the store in which it runs, by the run's own name. */
function watchful(seen, pause) {
  const note = (as) => seen.push([as, storage.getStore()]);
  const report = definePart({ name: "report", schema: noting(note, "part schema"), persist: "content" });
  const tool = toolOf(
    "tool",
    async () => {
      note("tool");
      await pause();
      note("tool later");
    },
    {
      input: noting(note, "schema"),
      access: () => (note("access"), true),
      concurrency: () => (note("concurrency"), "shared"),
    },
  );
  const model = {
    id: "watchful",
    async generate({ messages, tools }) {
      note("model");
      await pause();
      note("model");
      if (outputsIn(messages).length === 0) return { toolCalls: [{ toolName: "tool" }] };
      return { toolCalls: [{ toolName: tools.at(-1).name, input: {} }] };
    },
  };
  const child = defineAgent({
    id: "child",
    model,
    tools: [tool],
    emits: [report],
    instructions: () => (note("instructions"), "x"),
    reads: [defineSource({ id: "source", access: "public", load: () => (note("source"), "y") })],
  });
  return parentOf(
    child,
    ({ messages }) => (outputsIn(messages).length === 0 ? toolCall("run-child", { brief: "x" }) : text("done")),
    { deliverable: report, brief: () => (note("brief"), "go") },
  );
}

describe("NT-35 callbacks run in the async context of the code that started their turn", () => {
  test("BL-106 NT-35 D-37 fifty runs at once, each in its own", async () => {
    const keel = createKeel();
    const seen = Array.from({ length: 50 }, () => []);
    const results = await Promise.all(
      seen.map((notes, n) =>
        storage.run(n, () =>
          keel.run(
            watchful(notes, () => new Promise((resolve) => setImmediate(resolve))),
            "go",
          ),
        ),
      ),
    );
    for (const [n, notes] of seen.entries()) {
      assert.equal(results[n].text, "done");
      assert.deepEqual([...new Set(notes.map(([as]) => as))].toSorted(), callbacks.toSorted());
      assert.deepEqual([...new Set(notes.map(([, store]) => store))], [n]);
    }
  });

  test("BL-106 NT-35 whichever run wakes the runtime, also through its clock", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const seen = Array.from({ length: 10 }, () => []);
    const running = seen.map((notes, n) =>
      storage.run(n, () =>
        keel.run(
          watchful(notes, () => new Promise((resolve) => clock.setTimer(clock.now() + 5, resolve))),
          "go",
        ),
      ),
    );
    await storage.run("whoever moves the clock", () => clock.advance(100));
    await Promise.all(running);
    for (const [n, notes] of seen.entries()) assert.deepEqual([...new Set(notes.map(([, store]) => store))], [n]);
  });

  test("NT-35 a run without a context of its own has none, whoever runs beside it", async () => {
    const keel = createKeel();
    const seen = [];
    const other = [];
    const pause = () => new Promise((resolve) => setImmediate(resolve));
    await Promise.all([
      storage.run("other", () => keel.run(watchful(other, pause), "go")),
      keel.run(watchful(seen, pause), "go"),
    ]);
    assert.deepEqual([...new Set(seen.map(([, store]) => store))], [undefined]);
  });

  test("NT-35 the code after await run() is in its own context", async () => {
    const after = await Promise.all(
      [1, 2, 3].map((n) =>
        storage.run(n, async () => {
          await run(agentOf([toolCall("note"), text("x")], { tools: [toolOf("note", () => Promise.resolve())] }), "go");
          return storage.getStore();
        }),
      ),
    );
    assert.deepEqual(after, [1, 2, 3]);
  });

  test("NT-35 D-37 a run that a tool starts is in the tool's context", async () => {
    let inner;
    const inside = agentOf(
      { id: "m", generate: async () => ((inner = storage.getStore()), { text: "x" }) },
      { id: "inside" },
    );
    const tool = toolOf("outer", () => storage.run("within the tool", () => run(inside, "go").then(() => null)));
    await storage.run("outside", () => run(agentOf([toolCall("outer"), text("done")], { tools: [tool] }), "go"));
    assert.equal(inner, "within the tool");
  });

  test("NT-35 a stop from another context aborts signals and changes no context of callbacks", async () => {
    const seen = [];
    const stop = new AbortController();
    const child = agentOf(
      {
        id: "m",
        generate: (_request, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => (seen.push(storage.getStore()), reject(signal.reason))),
          ),
      },
      { id: "child" },
    );
    const parent = agentOf([toolCall("run-child", { brief: "x" })], { id: "parent", tools: [asTool(child)] });
    const running = storage.run("mine", () => run(parent, "go", { signal: stop.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort("no");
    assert.equal((await running).outcome.status, "stopped");
    assert.equal(seen.length, 1);
  });
});
