import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { messageSnapshot } from "../../js/model/message-snapshot.js";

const listOf = (count) =>
  Array.from({ length: count }, (_, index) => Object.freeze({ role: "user", content: `${index}` }));

describe("what a model is shown of a conversation", () => {
  for (const count of [1, 1024, 1025, 3000]) {
    test(`${count} messages read as an array that later ones do not reach`, () => {
      const messages = listOf(count);
      const expected = messages.slice();
      const shown = messageSnapshot(messages);
      messages.push(Object.freeze({ role: "user", content: "later" }), Object.freeze({ role: "user", content: "too" }));

      assert.ok(Array.isArray(shown));
      assert.equal(shown.length, count);
      assert.equal(shown[count], undefined);
      assert.equal(shown.at(-1), expected.at(-1));
      assert.ok(!(count in shown) && count - 1 in shown);
      assert.deepEqual([...shown], expected);
      assert.deepEqual(Object.keys(shown), Object.keys(expected));
      assert.equal(JSON.stringify(shown), JSON.stringify(expected));
      assert.deepEqual(
        shown.map(({ content }) => content),
        expected.map(({ content }) => content),
      );
      assert.deepEqual(shown.slice(-2), expected.slice(-2));
      assert.deepEqual(shown.concat(["more"]).length, count + 1);
      assert.equal(
        shown.findLast(() => true),
        expected.at(-1),
      );
      assert.deepEqual(structuredClone([...shown]), expected);
    });
  }

  test("nothing written to it reaches the turn: a short list is a copy, a long one refuses", () => {
    const short = listOf(1024);
    messageSnapshot(short).length = 0;
    assert.equal(short.length, 1024);

    const long = listOf(1025);
    const shown = messageSnapshot(long);
    for (const write of [
      () => shown.push("x"),
      () => (shown[0] = "x"),
      () => (shown.length = 0),
      () => delete shown[0],
      () => Object.defineProperty(shown, "0", { value: "x" }),
      () => Object.freeze(shown),
      () => Object.setPrototypeOf(shown, null),
    ])
      assert.throws(write, TypeError);
    assert.equal(long.length, 1025);
    assert.equal(long[0].content, "0");
  });
});
