import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, stream as streamOfDefaultKeel } from "../../js/index.js";
import { cut, delay, fail, hang, scriptedModel, text, toolCall, virtualClock } from "../../js/testing/index.js";
import { agentOf, collect, ofType, parentOf, toolOf } from "../scenes/small-agents.js";

const call = toolCall("run-child", { brief: "x" });
const speaking = (words, chunks = 3) => agentOf(scriptedModel([text(words)], { chunks }));

describe("reading", () => {
  test("events come as they happen, from turn.started to its one end", async () => {
    const events = await collect(createKeel().stream(speaking("abcdef"), "go"));
    const rest = events.filter(({ type }) => type !== "text.delta");
    assert.deepEqual(
      rest.map(({ type }) => type),
      ["turn.started", "step.started", "step.completed", "turn.completed"],
    );
    const deltas = ofType(events, "text.delta");
    assert.equal(deltas.map((event) => event.text).join(""), "abcdef");
    assert.ok(deltas.every(({ step, attempt, kind }) => step === 1 && attempt === 1 && kind === "text"));
  });

  test("text reaches a waiting reader piece by piece, and is joined for one that comes later", async () => {
    const keel = createKeel();
    const model = {
      id: "slow",
      async *generate() {
        for (const delta of ["a", "b", "c"]) {
          yield { type: "text-delta", delta };
          await new Promise((resolve) => setImmediate(resolve));
        }
        yield { type: "finish" };
      },
    };
    const stream = keel.stream(agentOf(model), "go");
    assert.deepEqual(await collect(stream.textStream), ["a", "b", "c"]);
    assert.deepEqual((await collect(stream.textStream)).join(""), "abc");
    const late = keel.stream(agentOf(model), "go");
    await late.result;
    assert.deepEqual(await collect(late.textStream), ["abc"]);
  });

  test("several readers each see everything, from the beginning", async () => {
    const stream = createKeel().stream(speaking("hello"), "go");
    const [first, second, words, all, web] = await Promise.all([
      collect(stream),
      collect(stream),
      collect(stream.textStream),
      collect(stream.inspect()),
      collect(stream.toReadableStream()),
    ]);
    assert.deepEqual(first, second);
    assert.deepEqual([words.join(""), all, web], ["hello", first, first]);
    assert.deepEqual(await collect(stream), first);
  });

  test("reasoning is in the events, marked, and not in the text", async () => {
    const model = {
      id: "m",
      async *generate() {
        yield* [{ type: "reasoning-delta", delta: "hm" }, { type: "text-delta", delta: "yes" }, { type: "finish" }];
      },
    };
    const stream = createKeel().stream(agentOf(model), "go");
    assert.deepEqual(
      ofType(await collect(stream), "text.delta").map(({ kind, text: said }) => [kind, said]),
      [
        ["reasoning", "hm"],
        ["text", "yes"],
      ],
    );
    assert.deepEqual(await collect(stream.textStream), ["yes"]);
    assert.equal((await stream.result).text, "yes");
  });

  test("textStream is the root's own text", async () => {
    const child = agentOf([text("child words")], { id: "child" });
    const stream = createKeel().stream(parentOf(child, [[text("one "), call], text("two")]), "go");
    assert.equal((await collect(stream.textStream)).join(""), "one two");
  });

  test("run() and stream() end with the same result", async () => {
    const keel = createKeel();
    const agent = () => agentOf([[text("a"), toolCall("note")], text("b")], { tools: [toolOf("note")] });
    const [ran, streamed] = [await keel.run(agent(), "go"), await keel.stream(agent(), "go").result];
    const plain = ({ outcome, text: said, usage, finishReason, record }) => ({
      outcome,
      said,
      usage,
      finishReason,
      transcript: record.transcript,
    });
    assert.deepEqual(plain(streamed), plain(ran));
  });

  test("the default keel streams too", async () => {
    assert.equal((await collect(streamOfDefaultKeel(speaking("x"), "go"))).at(-1).type, "turn.completed");
  });

  test("the id is known at once", async () => {
    const stream = createKeel().stream(speaking("x"), "go");
    assert.equal(stream.turnId, (await stream.result).turnId);
  });
});

describe("leaving", () => {
  /** A model that says something and then nothing more. */
  const halting = () => {
    let signal;
    const model = {
      id: "halting",
      async *generate(_request, options) {
        signal = options.signal;
        yield { type: "text-delta", delta: "first" };
        await new Promise(() => {});
      },
    };
    return { agent: agentOf(model), signal: () => signal };
  };

  for (const [name, read] of [
    ["the events", (stream) => stream],
    ["textStream", (stream) => stream.textStream],
    ["toReadableStream()", (stream) => stream.toReadableStream()],
  ]) {
    test(`breaking off ${name} stops the run`, async () => {
      const { agent, signal } = halting();
      const stream = createKeel().stream(agent, "go");
      for await (const item of read(stream)) if (item === "first" || item.text === "first") break;
      assert.equal((await stream.result).outcome.status, "stopped");
      assert.equal(signal().aborted, true);
    });

    test(`so does leaving ${name} while the next item is waited for`, async () => {
      const { agent } = halting();
      const stream = createKeel().stream(agent, "go");
      const source = read(stream);
      if (typeof source.getReader === "function") {
        const reader = source.getReader();
        for (let item; item?.text !== "first";) item = (await reader.read()).value;
        const waiting = reader.read();
        await reader.cancel("seen enough");
        assert.equal((await waiting).done, true);
      } else {
        const iterator = source[Symbol.asyncIterator]();
        for (let item; item !== "first" && item?.text !== "first";) item = (await iterator.next()).value;
        const waiting = iterator.next();
        await iterator.return();
        assert.equal((await waiting).done, true);
      }
      assert.equal((await stream.result).outcome.status, "stopped");
    });
  }

  test("throwing in the loop stops the run", async () => {
    const { agent } = halting();
    const stream = createKeel().stream(agent, "go");
    await assert.rejects(async () => {
      for await (const event of stream) if (event.type === "text.delta") throw new Error("mine");
    }, /mine/);
    assert.equal((await stream.result).outcome.status, "stopped");
  });

  test("leaving inspect() stops nothing", async () => {
    const stream = createKeel().stream(speaking("all of it"), "go");
    for await (const _ of stream.inspect()) break;
    assert.equal((await stream.result).text, "all of it");
  });

  test("leaving after the end changes nothing", async () => {
    const stream = createKeel().stream(speaking("x"), "go");
    await stream.result;
    for await (const _ of stream) break;
    assert.equal((await stream.result).outcome.status, "completed");
  });

  test("stop() stops it with its reason, and answers false afterwards", async () => {
    const stream = createKeel().stream(agentOf([hang()]), "go");
    assert.equal(await stream.stop("enough"), true);
    assert.deepEqual((await stream.result).outcome, { status: "stopped", reason: "enough" });
    assert.equal(await stream.stop("again"), false);
    assert.equal((await collect(stream)).at(-1).reason, "enough");
  });

  test("an unread stream neither blocks nor holds more than the turn has said", async () => {
    const model = {
      id: "wordy",
      async *generate() {
        for (let n = 0; n < 20_000; n += 1) yield { type: "text-delta", delta: "0123456789" };
        yield { type: "finish" };
      },
    };
    const stream = createKeel().stream(agentOf(model), "go");
    assert.equal((await stream.result).text.length, 200_000);
    assert.equal(ofType(await collect(stream), "text.delta").length, 1);
  });
});

describe("D-8 failures while streaming", () => {
  test("D-8 a cut after the first text fails with MODEL_ERROR: text cannot be taken back", async () => {
    const agent = agentOf([cut("half a"), text("never")]);
    const stream = createKeel().stream(agent, "go");
    assert.equal((await collect(stream.textStream)).join(""), "half a");
    const { outcome } = await stream.result;
    assert.deepEqual([outcome.cause.code, agent.model.requests.length], ["MODEL_ERROR", 1]);
  });

  test("D-8 a cut before any text is retried", async () => {
    const clock = virtualClock();
    const stream = createKeel({ clock }).stream(agentOf([cut(""), text("whole")]), "go");
    await clock.advance(1_000);
    assert.equal((await collect(stream.textStream)).join(""), "whole");
  });

  test("D-8 limits.streamIdleTimeoutMs bounds the silence between deltas, each of which starts it anew", async () => {
    for (const [pause, outcome] of [
      [99, "completed"],
      [100, "failed"],
    ]) {
      const clock = virtualClock();
      const model = {
        id: "pausing",
        async *generate() {
          for (const delta of ["a", "b", "c"]) {
            yield { type: "text-delta", delta };
            await new Promise((resolve) => clock.setTimer(clock.now() + pause, resolve));
          }
          yield { type: "finish" };
        },
      };
      const stream = createKeel({ clock }).stream(agentOf(model), "go", { limits: { streamIdleTimeoutMs: 100 } });
      await clock.advance(1_000);
      assert.equal((await stream.result).outcome.status, outcome);
    }
  });

  test("D-8 the default is two minutes, and run() has none", async () => {
    const clock = virtualClock();
    const keel = createKeel({ clock });
    const slow = () => agentOf([delay(130_000, text("late but fine"))]);
    const running = keel.run(slow(), "go");
    const stream = keel.stream(slow(), "go", { limits: { maxModelRetries: 0 } });
    await clock.advance(119_999);
    assert.equal((await keel.records.get(stream.turnId)).status, "running");
    await clock.advance(1);
    assert.equal((await stream.result).outcome.cause.code, "MODEL_ERROR");
    await clock.advance(20_000);
    assert.equal((await running).text, "late but fine");
  });

  test("a failing stream ends with its failure, and its iterators end in good order", async () => {
    const stream = createKeel().stream(agentOf([fail(new Error("no"))]), "go");
    const events = await collect(stream);
    assert.equal(events.at(-1).type, "turn.failed");
    assert.deepEqual(await collect(stream.textStream), []);
  });
});
