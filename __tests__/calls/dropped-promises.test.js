import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, KeelError, toolError } from "../../js/index.js";
import { hang, text } from "../../js/testing/index.js";
import { callLines, calling, failed, issue, leafOf, summaryOf } from "../scenes/calling.js";
import { agentOf, deferred, toolOf, unpaired } from "../scenes/small-agents.js";

const immediate = () => new Promise((resolve) => setImmediate(resolve));

const stuckOf = () => toolOf("stuck", () => new Promise(() => {}), { concurrency: "shared" });

describe("calls that nobody waits for", () => {
  test("NC-73 are rejected when their caller settles, without an unhandled rejection", async () => {
    const unhandled = [];
    const note = (reason) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const stuck = stuckOf();
      const { events } = await calling(
        async ({ callTool }) => {
          callTool("stuck");
          callTool("ghost");
          callTool("leaf", 1n);
          callTool(5);
          await immediate();
        },
        [stuck, leafOf().tool],
      );
      for (let round = 0; round < 3; round += 1) await immediate();
      assert.deepEqual([unhandled, unpaired(events)], [[], []]);
      assert.deepEqual(
        summaryOf(events).map(({ id, status }) => [id, status]),
        [
          ["p1/2", "failed"],
          ["p1/3", "failed"],
          ["p1/1", "abandoned"],
        ],
      );
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  test("NC-73 a context that outlives its call answers that the call already settled", async () => {
    for (const end of [
      () => "result",
      () => {
        throw toolError("own");
      },
      () => {
        throw new Error("foreign");
      },
    ]) {
      let retained;
      const { keel } = await calling((context) => ((retained = context), end()), [leafOf().tool]);
      const error = await failed(retained.callTool("leaf"));
      assert.ok(KeelError.isInstance(error));
      assert.deepEqual([error.code, /already settled/.test(error.message)], ["TOOL_FAILED", true]);
      await keel.close();
      assert.match((await failed(retained.callTool("leaf"))).message, /already settled/);
    }
  });

  test("NC-73 D-12 one that a stop cut off answers CANCELLED", async () => {
    let retained;
    const started = deferred();
    const agent = agentOf([issue(), hang()], {
      tools: [
        toolOf("caller", (_input, context) => ((retained = context), started.resolve(), new Promise(() => {}))),
        leafOf().tool,
      ],
    });
    const keel = createKeel({ limits: { maxNestedDepth: 1 } });
    const running = keel.stream(agent, "go");
    await started.promise;
    await keel.stop(running.turnId, { reason: "enough" });
    await running.result;
    const error = await failed(retained.callTool("leaf"));
    assert.equal(error.code, "CANCELLED");
  });

  test("BL-055 a fast call's end is told while its sibling stalls, and stays when that one is cut off", async () => {
    const stuck = stuckOf();
    const script = [[issue("leaf", {}, "fast"), issue("stuck", {}, "slow")], text("never")];
    const keel = createKeel();
    const stream = keel.stream(agentOf(script, { tools: [stuck, leafOf().tool] }), "go");
    const seen = [];
    for await (const event of stream) {
      seen.push(event);
      if (event.type !== "tool.completed") continue;
      assert.equal(event.callId, "fast");
      assert.ok(
        (await keel.records.events(stream.turnId)).some(
          ({ type, callId }) => type === "tool.completed" && callId === "fast",
        ),
      );
      stream.stop("stalled");
    }
    assert.deepEqual(callLines(seen), ["started fast", "started slow", "completed fast", "failed slow"]);
    const { record } = await stream.result;
    const outputs = record.transcript.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
    assert.deepEqual(
      outputs.filter(({ toolCallId }) => toolCallId === "fast").map(({ output }) => output.value),
      outputs.length ? ["leaf-out"] : [],
    );
  });
});
