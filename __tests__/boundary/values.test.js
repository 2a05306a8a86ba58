import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createKeel, definePart, run } from "../../js/index.js";
import { text, toolCall } from "../../js/testing/index.js";
import { agentOf, anything, lastOutputs, ofType, toolOf } from "../scenes/small-agents.js";

/** What arrives in a tool's body and what the model reads of what it returns: the input itself, unless `execute` says otherwise. */
async function passed(args, execute = (input) => input, keelOptions = {}) {
  let seen;
  const tool = toolOf("tool", (input, context) => ((seen = input), execute(input, context)));
  const agent = agentOf([toolCall("tool", args), text("went on")], { tools: [tool] });
  const keel = createKeel(keelOptions);
  const result = await keel.run(agent, "go");
  assert.equal(result.text, "went on");
  return { seen, output: lastOutputs(agent)[0], result, events: await keel.records.events(result.turnId) };
}

describe("D-25 arguments travel as they were written", () => {
  const asWritten = [
    '{"z":1,"a":2,"10":3,"2":4}',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
    '{"n":9007199254740991,"m":-9007199254740991}',
    '{"n":1e+21,"m":5e-324,"o":1.7976931348623157e+308,"p":0.1}',
    String.raw`{"a":"\ud800","b":"\udfff x","\udc00":"\ud83d\ude00"}`,
    '{"a":"","b":null,"c":false,"d":[],"e":{},"f":[[[]]]}',
    '{"\\u0000":"\\u2028\\u2029","tab":"\\t","emoji":"😀"}',
  ];
  for (const args of asWritten) {
    test(`D-25 ${args}`, async () => {
      const { seen, output, result } = await passed(args);
      const expected = JSON.stringify(JSON.parse(args));
      assert.equal(JSON.stringify(seen), expected);
      assert.equal(JSON.stringify(output.value), expected);
      assert.equal(JSON.stringify(result.record.transcript[1].content[0].input), expected);
      assert.equal({}.polluted, undefined);
      assert.equal(Object.getPrototypeOf(seen), Object.prototype);
    });
  }

  test("D-25 the last of equal keys wins, as in JSON.parse", async () => {
    assert.deepEqual((await passed('{"a":1,"a":2}')).seen, { a: 2 });
  });

  test("D-25 five million characters arrive whole, there and back", async () => {
    const long = "ä\n\u0000😀".repeat(1_000_000);
    const { seen, output } = await passed({ long }, ({ long: given }) => given);
    assert.equal(seen.long.length, 5_000_000);
    assert.ok(seen.long === long && output.value === long);
  });

  test("D-25 lone surrogates in texts, inputs and reasons stop nothing", async () => {
    const lone = "a\ud800b";
    const { output } = await passed({}, () => lone);
    assert.equal(output.value, "a\ufffdb");
    const result = await run(agentOf([text(lone)]), lone);
    assert.deepEqual([result.text, result.outcome.status, result.record.input], ["a\ufffdb", "completed", lone]);
    const stopped = await run(agentOf([text("x")]), "go", { signal: AbortSignal.abort(lone) });
    assert.equal(stopped.outcome.reason, lone);
  });

  test("D-25 BL-093 numbers that JSON lacks never become 0", async () => {
    const { output } = await passed({}, () => ({ a: Number.NaN, b: [Infinity, -Infinity], c: -0 }));
    assert.deepEqual(output.value, { a: null, b: [null, null], c: 0 });
    const { seen } = await passed({ a: Number.NaN, b: Infinity });
    assert.deepEqual(seen, { a: null, b: null });
  });
});

describe("what tools return", () => {
  const cyclic = { name: "loop" };
  cyclic.self = cyclic;

  for (const [name, value, expected] of [
    ["undefined", undefined, { type: "json", value: null }],
    ["a Date", new Date(0), { type: "text", value: "1970-01-01T00:00:00.000Z" }],
    ["a Buffer", Buffer.from("hi"), { type: "json", value: { type: "Buffer", data: [104, 105] } }],
    ["NaN", Number.NaN, { type: "json", value: null }],
    ["what toJSON says", { toJSON: () => ({ own: "form" }) }, { type: "json", value: { own: "form" } }],
    [
      "undefined, NaN and -0 within",
      { a: undefined, b: [undefined, Number.NaN, -0] },
      { type: "json", value: { b: [null, null, 0] } },
    ],
  ]) {
    test(`BL-089 BL-090 ${name} becomes its JSON form`, async () => {
      assert.deepEqual((await passed({}, () => value)).output, expected);
      assert.deepEqual((await passed({}, async () => value)).output, expected);
    });
  }

  for (const [name, value, found] of [
    ["a circular object", cyclic, /an object with name, self.*circular|cyclic/i],
    ["a BigInt", 10n, /a bigint/],
    ["a BigInt within", { n: 10n }, /an object with n/],
    ["a Map", new Map([[1, 2]]), /a Map/],
    ["a Set", new Set([1]), /a Set/],
    ["a function", () => {}, /a function/],
    ["a symbol", Symbol("s"), /a symbol/],
    ["an Error", new RangeError("lost"), /an? \w*Error/],
    [
      "a getter that throws",
      {
        get x() {
          throw new Error("trap");
        },
      },
      /an object with x.*trap/,
    ],
    [
      "a toJSON that throws",
      {
        toJSON() {
          throw new Error("trap");
        },
      },
      /trap/,
    ],
  ]) {
    test(`BL-089 BL-091 ${name} is the tool's failure, by name, and the run goes on`, async () => {
      for (const execute of [() => value, () => ({ kind: "tool-result", isError: false, value })]) {
        const { output, events } = await passed({}, execute);
        assert.equal(output.type, "error-text");
        assert.match(output.value, /^tool 'tool' returned /);
        assert.match(output.value, found);
        assert.equal(ofType(events, "tool.completed")[0].isError, true);
      }
    });
  }

  test("BL-089 a Proxy that throws whatever is asked of it is a failure like any other", async () => {
    const trap = new Proxy(
      {},
      {
        get() {
          throw new Error("trap");
        },
      },
    );
    assert.equal((await passed({}, () => trap)).output.type, "error-text");
    assert.equal((await passed({}, async () => trap)).output.type, "error-text");
    assert.match(
      (await passed({}, () => ({ kind: "tool-result", isError: false, value: trap }))).output.value,
      /^tool 'tool' returned an object/,
    );
  });

  test("D-25 a result nested deeper than 128 levels is the tool's failure, one of 128 is not", async () => {
    const nested = (depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth));
    assert.equal((await passed({}, () => nested(128))).output.type, "json");
    for (const depth of [129, 2_000]) {
      assert.deepEqual((await passed({}, () => nested(depth))).output, {
        type: "error-text",
        value: "tool 'tool' returned a value nested deeper than 128 levels",
      });
    }
    assert.equal(
      (await passed({}, () => ({ kind: "tool-result", isError: false, metadata: nested(129) }))).output.type,
      "error-text",
    );
  });

  test("BL-090 an emitted part with undefined and NaN within is normalised and accepted", async () => {
    const part = definePart({ name: "note", schema: anything });
    const tool = toolOf("tool", (_input, ctx) => ctx.emit(part, { a: undefined, b: [undefined, Number.NaN, -0] }));
    const result = await run(agentOf([toolCall("tool"), text("done")], { tools: [tool], emits: [part] }), "go");
    assert.deepEqual(result.parts, [{ part: "note", value: { b: [null, null, 0] } }]);
  });

  for (const [name, value] of [
    ["undefined", undefined],
    ["a function", () => {}],
    ["a circular object", cyclic],
    ["a BigInt", 1n],
    ["what does not fit", 5],
    ["what is nested too deep", JSON.parse(`{"a":${"[".repeat(200)}${"]".repeat(200)}}`)],
  ]) {
    test(`BL-096 emitting ${name} throws there and then, and nowhere else`, async () => {
      const part = definePart({ name: "note", schema: anything });
      let thrown;
      const tool = toolOf("tool", (_input, ctx) => {
        try {
          ctx.emit(part, value);
        } catch (error) {
          thrown = error;
        }
        return "fine";
      });
      const agent = agentOf([toolCall("tool"), text("done")], { tools: [tool], emits: [part] });
      const result = await run(agent, "go");
      assert.equal(thrown.code, "PART_INVALID");
      assert.match(thrown.message, /tool 'tool'/);
      assert.deepEqual([result.text, result.parts, lastOutputs(agent)[0].value], ["done", [], "fine"]);
    });
  }

  test("a part that the agent does not emit is refused by name", async () => {
    const [mine, other, twin] = ["mine", "other", "mine"].map((name) => definePart({ name, schema: anything }));
    const codes = [];
    const tool = toolOf("tool", (_input, ctx) => {
      for (const part of [other, twin, undefined, { kind: "part" }]) {
        try {
          ctx.emit(part, {});
        } catch (error) {
          codes.push(error.code);
        }
      }
    });
    await run(agentOf([toolCall("tool"), text("done")], { tools: [tool], emits: [mine] }), "go");
    assert.deepEqual(
      codes,
      Array.from({ length: 4 }, () => "PART_NOT_EMITTED"),
    );
  });

  test("BL-136 a hundred thousand reports in a tight loop make a bounded number of events, the newest last", async () => {
    const keel = createKeel();
    const tool = toolOf("tool", (_input, ctx) => {
      for (let done = 1; done <= 100_000; done += 1) ctx.progress({ done });
    });
    const stream = keel.stream(agentOf([toolCall("tool"), text("done")], { tools: [tool] }), "go");
    const result = await stream.result;
    const reports = ofType(await keel.records.events(result.turnId), "tool.progress");
    assert.ok(reports.length < 5_000, String(reports.length));
    assert.equal(reports.at(-1).done, 100_000);
  });

  test("progress takes an object, and leaves out what is no message or number", async () => {
    const keel = createKeel();
    let code;
    const tool = toolOf("tool", (_input, { progress }) => {
      progress({ message: "half", done: 1, total: 2 });
      progress({ done: Number.NaN, total: "5" });
      try {
        progress(5);
      } catch (error) {
        code = error.code;
      }
    });
    const { turnId } = await keel.run(agentOf([toolCall("tool"), text("done")], { tools: [tool] }), "go");
    const reports = ofType(await keel.records.events(turnId), "tool.progress");
    assert.deepEqual(
      reports.map(({ message, done, total }) => [message, done, total]),
      [
        ["half", 1, 2],
        [undefined, undefined, undefined],
      ],
    );
    assert.equal(code, "OPTION_INVALID");
  });
});
