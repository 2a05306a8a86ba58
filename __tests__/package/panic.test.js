import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { native } from "../../js/binding/native.js";
import { COMMANDS } from "../../js/host/command-table.js";

/** One agent whose model may call one tool, as the host describes it. */
function program() {
  const agent = {
    id: "agent",
    instructions: null,
    prepares: false,
    tools: [
      {
        id: "tool",
        schema: 0,
        prepares: false,
        access: { type: "public" },
        exposure: "direct",
        concurrency: "unset",
        timeoutMs: null,
        maxUses: null,
        exposeErrors: null,
        delegation: null,
        external: false,
        approvalRequired: false,
        replaySafe: false,
        injects: [],
      },
    ],
    emits: [],
    reads: [],
    grants: [],
    budget: {},
    limits: {},
    hooks: {},
  };
  return new native.Program(JSON.stringify([agent]), [new native.Schema('{"type":"object"}')]);
}

const TIME = 0;
const TREE = 1;

/** An engine that is played by hand: each call returns the commands that follow, by the table that the host reads them by. */
function handPlayed() {
  const numbers = new Float64Array(16);
  const words = new Int32Array(1024);
  const engine = native.openEngine("{}", numbers, words);
  const definitions = program();
  /** What a tree's texts are counted from. */
  const counted = new Map();

  const commandsOf = (left) => {
    const tree = numbers[TREE];
    const texts = left < 0 ? [native.texts(engine)].flat() : [];
    const base = counted.get(tree) ?? 0;
    counted.set(tree, base + texts.length);
    const text = (word) => (word > 0 ? JSON.parse(texts[word - base - 1]) : undefined);
    const commands = [];
    for (let at = 0; at < Math.abs(left); at += words[at] >> 8) {
      const [name, fields] = COMMANDS[words[at] & 255];
      const command = { name, tree };
      let place = at + 1;
      for (const [field, form] of Object.entries(fields)) {
        if (form === "messages") place += words[place];
        else if (form === "result") command[field] = text(words[place + 1]) ?? { outcome: { status: "completed" } };
        else command[field] = form === "text" ? text(words[place]) : words[place];
        place += ["double", "call"].includes(form) ? 2 : 1;
      }
      commands.push(command);
    }
    return commands;
  };
  const about = (tree) => {
    numbers[TIME] = 0;
    numbers[TREE] = tree;
  };
  return {
    start(turnId) {
      return commandsOf(native.start(engine, definitions, turnId, "go", undefined));
    },
    answer({ tree, id }, body) {
      about(tree);
      return commandsOf(native.answer(engine, id, typeof body === "string" ? body : JSON.stringify(body)));
    },
    letter({ tree, id }, text) {
      about(tree);
      return commandsOf(native.letter(engine, id, text));
    },
    input({ tree }, text) {
      about(tree);
      return commandsOf(native.input(engine, text));
    },
    fault({ tree }, message) {
      about(tree);
      return commandsOf(native.fault(engine, message));
    },
    release({ tree }) {
      about(tree);
      native.release(engine);
    },
    record({ tree }, turnId) {
      about(tree);
      return JSON.parse(native.query(engine, JSON.stringify({ type: "record", body: { turnId } }), 0))?.record;
    },
  };
}

const said = {
  ok: {
    content: [{ type: "text", text: "fine" }],
    finishReason: "stop",
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  },
};
const asked = { ok: { ...said.ok, content: [{ type: "tool-call", toolCallId: "1", toolName: "tool", input: "{}" }] } };
const of = (commands, name) => commands.find((command) => command.name === name);

describe("BL-097 D-34 an answer that breaks the protocol", () => {
  for (const broken of ["", "null", "{", "[]", '{"ok":5}', '{"ok":{"content":5}}', '{"error":{}}', '{"surprise":1}']) {
    test(`BL-097 ${JSON.stringify(broken)} from a model ends that turn INTERNAL, and no other`, () => {
      const engine = handPlayed();
      const first = of(engine.start("a"), "model");
      const second = of(engine.start("b"), "model");
      assert.notEqual(first.tree, second.tree);
      const { result } = of(engine.answer(first, broken), "settled");
      assert.equal(result.outcome.status, "failed");
      assert.equal(result.outcome.cause.code, "INTERNAL");
      assert.equal(engine.record(first, "a").status, "failed");
      assert.equal(engine.record(second, "b").status, "running");
      assert.equal(of(engine.answer(second, said), "settled").result.outcome.status, "completed");
      const third = of(engine.start("c"), "model");
      assert.equal(of(engine.answer(third, said), "settled").result.outcome.status, "completed");
    });
  }

  test("BL-097 from a tool too, with the call's one end", () => {
    const engine = handPlayed();
    const call = of(engine.answer(of(engine.start("a"), "model"), asked), "call");
    const { result } = of(engine.answer(call, '{"result":'), "settled");
    assert.equal(result.outcome.cause.code, "INTERNAL");
    const other = of(engine.start("b"), "model");
    assert.equal(of(engine.answer(other, said), "settled").result.outcome.status, "completed");
  });

  test("answers that nobody waits for are ignored: late, twice, never asked, of a tree that is gone", () => {
    const engine = handPlayed();
    const model = of(engine.start("a"), "model");
    engine.answer(model, said);
    for (const stray of [model.id, model.id + 1, 2_000_000_000])
      assert.deepEqual(engine.answer({ ...model, id: stray }, said), []);
    assert.equal(engine.record(model, "a").status, "completed");
    engine.release(model);
    assert.deepEqual(engine.answer(model, said), []);
    assert.deepEqual(engine.answer({ ...model, tree: 99 }, said), []);
    assert.equal(engine.record({ tree: -1 }, "a").status, "completed", "the store has it");
  });

  test("inputs that are not of the protocol throw and change nothing", () => {
    const engine = handPlayed();
    const model = of(engine.start("a"), "model");
    for (const text of ["", "{", '{"type":"unknown"}', '{"type":"stop"}', '{"type":"stop","body":{}}'])
      assert.throws(() => engine.input(model, text), Error);
    assert.throws(() => engine.letter(model, '{"type":"tick"}'), Error);
    engine.input(model, '{"type":"tick"}');
    engine.input(model, '{"type":"stop","body":{"turnId":"nobody","subtree":false,"reason":null}}');
    engine.letter({ ...model, id: 99 }, '{"type":"emit","body":{"part":0,"value":1}}');
    assert.equal(of(engine.answer(model, said), "settled").result.outcome.status, "completed");
  });

  test("a fault ends its own tree, cancels what it had in flight, and leaves the others alone", () => {
    const engine = handPlayed();
    const first = of(engine.start("a"), "model");
    const second = of(engine.start("b"), "model");
    const commands = engine.fault(first, "the host broke down");
    assert.equal(of(commands, "cancel").id, first.id);
    const { outcome } = of(commands, "settled").result;
    assert.equal(outcome.cause.code, "INTERNAL");
    assert.match(outcome.cause.message, /the host broke down/);
    assert.equal(of(engine.answer(second, said), "settled").result.outcome.status, "completed");
  });

  test("definitions that are not of the protocol throw", () => {
    for (const text of ["", "{}", '[{"id":5}]']) assert.throws(() => new native.Program(text, []), Error);
    assert.throws(() => native.openEngine('{"keepTrees":"all"}', new Float64Array(16), new Int32Array(64)), Error);
  });
});
