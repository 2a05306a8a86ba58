import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { text, toolCall, virtualClock } from "../../js/testing/index.js";
import { createKeel, defineMiddleware, KeelError, toolResult } from "../../js/index.js";
import { calling, failed, leafOf, refusal } from "../scenes/calling.js";
import { collector } from "../scenes/collector.js";
import { agentOf, lastOutputs, toolOf } from "../scenes/small-agents.js";

/** A schema of the user's that notes what it is asked, and answers with what `check` returns. */
function schemaOf(check) {
  const asked = [];
  const validate = (value) => (asked.push(value), check(value));
  const jsonSchema = { input: () => ({ type: "object", properties: { n: { type: "number" } }, required: ["n"] }) };
  return { asked, schema: { "~standard": { version: 1, vendor: "test", validate, jsonSchema } } };
}

const double = ({ n }) => ({ value: { n: n * 2 } });
const refuse = () => ({ issues: [{ message: "must be even", path: ["n"] }] });

const ways = {
  "at once": (check) => check,
  "with a promise": (check) => async (value) => check(value),
};

for (const [when, answering] of Object.entries(ways)) {
  describe(`D-26 a Standard Schema that answers ${when}`, () => {
    test("is asked once for each call of a model, and its value is the body's", async () => {
      const { asked, schema } = schemaOf(answering(double));
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      const agent = agentOf([[toolCall("leaf", { n: 1 }), toolCall("leaf", { n: 2 })], text("done")], {
        tools: [tool],
      });
      await createKeel().run(agent, "go");
      assert.deepEqual(asked, [{ n: 1 }, { n: 2 }]);
      assert.deepEqual(runs, [{ n: 2 }, { n: 4 }]);
    });

    test("is asked once for each nested call", async () => {
      const { asked, schema } = schemaOf(answering(double));
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      await calling(({ callTool }) => Promise.all([callTool("leaf", { n: 1 }), callTool(tool, { n: 2 })]), [tool]);
      assert.deepEqual(asked, [{ n: 1 }, { n: 2 }]);
      assert.deepEqual(runs, [{ n: 2 }, { n: 4 }]);
    });

    test("refuses for both", async () => {
      const { schema } = schemaOf(answering(refuse));
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      const script = [[toolCall("caller", {}, { id: "p1" }), toolCall("leaf", { n: 1 })], text("done")];
      const { returned, outputs } = await calling(({ callTool }) => refusal(callTool("leaf", { n: 1 })), [tool], {
        script,
      });
      assert.match(returned[1], /must be even/);
      assert.match(outputs[1].value, /must be even/);
      assert.deepEqual(runs, []);
    });

    test("that throws refuses, too", async () => {
      const { schema } = schemaOf(
        answering(() => {
          throw new RangeError("it broke");
        }),
      );
      const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
      const { returned } = await calling(({ callTool }) => refusal(callTool("leaf", { n: 1 })), [tool]);
      assert.match(returned[1], /it broke/);
      assert.deepEqual(runs, []);
    });
  });
}

test("D-26 a concurrency function sees what the schema made of the arguments", async () => {
  const seen = [];
  const { schema } = schemaOf(double);
  const concurrency = (input) => (seen.push(input), "shared");
  const { tool } = leafOf("leaf", () => "ok", { input: schema, concurrency });
  await calling(({ callTool }) => callTool("leaf", { n: 1 }), [tool]);
  assert.deepEqual(seen, [{ n: 2 }]);
});

test("D-26 a tool object that is not the agent's is not checked", async () => {
  const { asked, schema } = schemaOf(double);
  const { tool } = leafOf("leaf", () => "ok", { input: schema });
  const stranger = toolOf("leaf", () => "stranger", { input: schema });
  await calling(({ callTool }) => refusal(callTool(stranger, { n: 1 })), [tool]);
  assert.deepEqual(asked, []);
});

test("D-25 a result comes back as the tool gave it, in a copy for each reader", async () => {
  const held = { list: [1, 2], text: "\ud800" };
  const { tool } = leafOf("leaf", () => held);
  const seen = [];
  const observer = defineMiddleware({
    name: "observer",
    checkNestedTool: () => undefined,
    observeNestedResult: (_context, _call, result) => {
      seen.push(JSON.stringify(result));
      result.value.list.push(3);
    },
  });
  const { returned } = await calling(
    async ({ callTool }) => {
      const result = await callTool("leaf", {});
      held.list.push(4);
      return result;
    },
    [tool],
    { keel: { middleware: [observer] } },
  );
  assert.deepEqual(returned.value, { list: [1, 2], text: "\ud800" });
  assert.equal(returned.text, '{"list":[1,2],"text":"\\ud800"}');
  assert.ok(Object.isFrozen(returned));
  assert.equal(seen[0], JSON.stringify(returned));
});

const forms = {
  "a text": "half \ud800",
  "a number": 1.5,
  nothing: undefined,
  null: null,
  "an object": { b: [1], a: null },
  "a tool's own": toolResult({ text: "said", value: [1], metadata: { source: "a" } }),
  "a tool's own, of nothing": toolResult({ text: "said", value: null, metadata: null }),
  "a failure": toolResult({ isError: true, text: "no" }),
};
const transparent = defineMiddleware({
  name: "transparent",
  checkNestedTool: () => undefined,
  wrapTool: (_context, _call, next) => next(),
});

for (const [name, form] of Object.entries(forms)) {
  test(`D-25 ${name} is the same result whether the kernel sends it or the host has it`, async () => {
    const { tool: plain } = leafOf("plain", () => form);
    const { tool: inner } = leafOf("inner");
    const calls = toolOf("calls", async (_input, { callTool }) => (await callTool("inner", {}), form));
    const resultsOf = async (keel) => {
      const { returned } = await calling(
        async ({ callTool }) => [await callTool("plain", {}), await callTool("calls", {})],
        [plain, calls, inner],
        { keel },
      );
      return returned.map(({ metadata, ...rest }) => {
        const { nested_calls: _summary, ...own } = metadata ?? {};
        return { ...rest, own };
      });
    };
    const [here, summarised] = await resultsOf();
    assert.deepEqual(summarised, here);
    assert.deepEqual(await resultsOf({ middleware: [transparent] }), [here, here]);
  });
}

test("a tool's summary of what it called is in the result that its caller gets", async () => {
  const { tool: inner } = leafOf("inner");
  const middle = toolOf("middle", async (_input, { callTool }) => (await callTool("inner", {})).text);
  const { returned } = await calling(({ callTool }) => callTool("middle", {}), [middle, inner]);
  assert.equal(returned.value, "inner-out");
  assert.deepEqual(
    returned.metadata.nested_calls.map(({ name }) => name),
    ["inner"],
  );
});

test("a model's malformed arguments are nobody's to check", async () => {
  const { asked, schema } = schemaOf(double);
  const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
  const reply = { toolCalls: [{ toolCallId: "c", toolName: "leaf", input: '{"n":' }] };
  const agent = agentOf([reply, text("done")], { tools: [tool] });
  await createKeel().run(agent, "go");
  assert.deepEqual([asked, runs], [[], []]);
  assert.match(lastOutputs(agent)[0].value, /invalid JSON/);
});

test("D-26 a concurrency function over a plain JSON Schema sees what the schema let through", async () => {
  const seen = [];
  const input = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const { tool } = leafOf("leaf", () => "ok", { input, concurrency: (given) => (seen.push(given), "shared") });
  await calling(
    async ({ callTool }) => [await refusal(callTool("leaf", { path: 5 })), await callTool("leaf", { path: "a" })],
    [tool],
  );
  assert.deepEqual(seen, [{ path: "a" }]);
});

test("D-26 nobody is asked about a hidden tool", async () => {
  const { asked, schema } = schemaOf(double);
  const { tool } = leafOf("leaf", () => "ok", { input: schema, exposure: "hidden" });
  await calling(({ callTool }) => refusal(callTool("leaf", { n: 1 })), [tool]);
  assert.deepEqual(asked, []);
});

test("a schema that aborts its call's own signal drops the call", async () => {
  const controller = new AbortController();
  const { schema } = schemaOf((value) => (controller.abort("enough"), { value }));
  const { tool, runs } = leafOf("leaf", () => "ok", { input: schema });
  const { returned } = await calling(
    ({ callTool }) => failed(callTool("leaf", { n: 1 }, { signal: controller.signal })),
    [tool],
  );
  assert.deepEqual([returned.code, returned.cause], ["TOOL_FAILED", "enough"]);
  assert.deepEqual(runs, []);
});

test("what was kept of calls that never ran is let go of while their turn goes on", async () => {
  const collectGarbage = collector();
  const kept = [];
  const held = (value) => {
    kept.push(new WeakRef(value));
    return { value };
  };
  const { schema: atOnce } = schemaOf(({ n }) => held({ n }));
  const { schema: later } = schemaOf(async ({ n }) => held({ n }));
  const tools = [
    leafOf("refused", () => "ok", { input: atOnce, access: () => false }).tool,
    leafOf("slowly-refused", () => "ok", { input: later, access: () => false }).tool,
    leafOf("broken", () => "ok", {
      input: atOnce,
      concurrency: () => {
        throw new Error("no");
      },
    }).tool,
    leafOf("asks", () => "ok", { input: later, approval: "required" }).tool,
  ];
  const alive = await calling(async ({ callTool }) => {
    for (const { id } of tools) await refusal(callTool(id, { n: 1 }));
    const controller = new AbortController();
    const dropped = callTool("slowly-refused", { n: 2 }, { signal: controller.signal });
    controller.abort();
    await failed(dropped);
    for (let turn = 0; turn < 3; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    return kept.filter((value) => value.deref() !== undefined).length;
  }, tools);
  assert.ok(kept.length >= 4);
  assert.equal(alive.returned, 0);
});

test("a hook's context has its signal for those who wrap it or inherit from it", async () => {
  const seen = [];
  const look = defineMiddleware({
    name: "look",
    nested: "exempt",
    beforeTool: (context) => {
      const signals = [context, new Proxy(context, {}), Object.create(context), { ...context }];
      seen.push(new Set(signals.map(({ signal }) => signal)).size, context.signal instanceof AbortSignal);
    },
  });
  const agent = agentOf([toolCall("leaf", {}), text("done")], { tools: [leafOf().tool] });
  await createKeel({ middleware: [look] }).run(agent, "go");
  assert.deepEqual(seen, [1, true]);
});

test("null is given to a tool as what it is, and refused in words", async () => {
  const { tool } = leafOf();
  const { returned } = await calling(({ callTool }) => refusal(callTool("leaf", null)), [tool]);
  assert.match(returned[1], /^invalid arguments for nested call 'leaf': .*object/);
});

test("D-25 whatever a schema names its failure ends in that call's refusal, and no other turn", async () => {
  const { schema } = schemaOf(() => {
    throw new KeelError("X\ud800", "no \udc00");
  });
  const { schema: issuing } = schemaOf(() => ({ issues: [{ message: "bad \ud800", path: ["\udfff"] }] }));
  const tools = [
    leafOf("thrown", () => "ok", { input: schema }).tool,
    leafOf("issued", () => "ok", { input: issuing }).tool,
  ];
  const { returned } = await calling(
    async ({ callTool }) => [await refusal(callTool("thrown", { n: 1 })), await refusal(callTool("issued", { n: 1 }))],
    tools,
  );
  assert.match(returned[0][1], /no \ufffd/);
  assert.match(returned[1][1], /\/\ufffd: bad \ufffd/);
});

for (const [when, answering] of Object.entries(ways)) {
  test(`a schema that waits for its own tool while it checks (${when}) is held by the turn's limits`, async () => {
    const clock = virtualClock();
    let context;
    const { asked, schema } = schemaOf(
      answering((value) => {
        const again = context.callTool("leaf", { n: 1 });
        return when === "at once" ? { value } : again.then(() => ({ value }));
      }),
    );
    const { tool } = leafOf("leaf", () => "ok", { input: schema });
    const body = (given) => {
      context = given;
      return context.callTool("leaf", { n: 1 }).catch(() => {});
    };
    const { result } = await calling(body, [tool], {
      agent: { budget: { toolCalls: 10, timeMs: 200 } },
      keel: { clock },
      meanwhile: () => clock.advance(200),
    });
    assert.equal(result.outcome.cause?.code, when === "at once" ? undefined : "BUDGET_TIME");
    // One ahead, and one for each place in the budget.
    assert.ok(asked.length <= 11, `${asked.length} checks`);
  });
}
