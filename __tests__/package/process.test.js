import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { runProgram } from "./programs/spawned.js";

describe("BL-130 nothing keeps a process alive after its last turn", () => {
  for (const name of [
    "define only",
    "a keel that is not closed",
    "a run to its end",
    "a run with a deadline far away",
    "a run to its cancellation",
    "a run to its failure",
    "a run that a tool's own timeout ends",
  ]) {
    test(`BL-130 ${name}`, () => endsByItself(name));
  }

  test("BL-130 a turn that is still open does keep it alive", () =>
    endsByItself("a run that nothing else keeps alive"));
});

describe("BL-032 stopping reaches no process-level handler", () => {
  for (const name of [
    "a tool that rejects with AbortError when it is stopped",
    "a tool that rejects long after it was stopped",
    "a run nobody awaits that is stopped",
    "a run nobody awaits that fails",
  ]) {
    test(`BL-032 ${name}`, () => endsByItself(name));
  }
});

describe("BL-086 a throwing tool reaches no process-level handler", () => {
  for (const name of [
    "a run nobody awaits whose tool throws",
    "a throwing tool and a stream nobody reads",
    "a throwing tool and a reader that rejects",
    "a throwing tool and a stream broken off early",
  ]) {
    test(`BL-086 ${name}`, () => endsByItself(name));
  }
});

describe("BL-088 promises nobody looked at reject nowhere", () => {
  for (const read of [
    "nothing is",
    "only the result is",
    "only the text is",
    "only the events are",
    "only the tree is",
    "only the web stream is",
  ]) {
    test(`BL-088 ${read} read`, () => endsByItself(`a failing stream of which ${read} read`));
  }
});

/** @param {string} name */
async function endsByItself(name) {
  const { code, signal, stdout, stderr } = await runProgram("process-cases.js", [name]);
  const seen = `${stdout}\n${stderr}`;
  assert.equal(signal, null, `it did not exit by itself:\n${seen}`);
  assert.deepEqual(stdout.trim().split("\n"), ["end", '{"code":0,"processErrors":0}'], seen);
  assert.equal(code, 0, seen);
}
