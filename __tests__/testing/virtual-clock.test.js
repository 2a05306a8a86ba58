import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { systemClock } from "../../js/running/clock.js";
import { virtualClock } from "../../js/testing/index.js";

describe("D-38 virtualClock", () => {
  test("stands still until it is moved", async () => {
    const clock = virtualClock({ wallNow: 1000 });
    assert.deepEqual([clock.now(), clock.wallNow()], [0, 1000]);
    await clock.advance(25);
    assert.deepEqual([clock.now(), clock.wallNow()], [25, 1025]);
  });

  test("fires timers at their instants, in order of time and then of setting", async () => {
    const clock = virtualClock();
    const fired = [];
    for (const [name, atMs] of [
      ["c", 30],
      ["a", 10],
      ["b", 10],
      ["d", 31],
    ]) {
      clock.setTimer(atMs, () => fired.push(`${name} at ${clock.now()}`));
    }
    await clock.advance(30);
    assert.deepEqual(fired, ["a at 10", "b at 10", "c at 30"]);
    await clock.advance(1);
    assert.equal(fired.at(-1), "d at 31");
  });

  test("does not fire what was cancelled", async () => {
    const clock = virtualClock();
    const cancel = clock.setTimer(5, () => assert.fail("it was cancelled"));
    cancel();
    cancel();
    await clock.advance(10);
  });

  test("fires what a timer sets within the same advance", async () => {
    const clock = virtualClock();
    const fired = [];
    clock.setTimer(10, async () => {
      await Promise.resolve();
      clock.setTimer(clock.now() + 10, () => fired.push(clock.now()));
    });
    await clock.advance(20);
    assert.deepEqual(fired, [20]);
  });

  test("fires what is overdue without turning time back", async () => {
    const clock = virtualClock();
    await clock.advance(50);
    const fired = [];
    clock.setTimer(10, () => fired.push(clock.now()));
    await clock.advance(0);
    assert.deepEqual(fired, [50]);
  });

  test("waits until two rounds of macrotasks bring no input", async () => {
    const clock = virtualClock();
    let inputs = 0;
    const step = () => {
      clock.noteInput();
      inputs += 1;
      // The next input comes two rounds later: the longest pause that still counts as going on.
      if (inputs < 5) setImmediate(() => setImmediate(step));
    };
    setImmediate(step);
    await clock.advance(1);
    assert.equal(inputs, 5);
  });

  test("performs advances one after the other", async () => {
    const clock = virtualClock();
    const first = clock.advance(10).then(() => clock.now());
    const second = clock.advance(10).then(() => clock.now());
    assert.deepEqual(await Promise.all([first, second]), [10, 20]);
  });

  test("rejects with what a timer throws, and goes on", async () => {
    const clock = virtualClock();
    clock.setTimer(5, () => {
      throw new Error("from the timer");
    });
    await assert.rejects(clock.advance(10), /from the timer/);
    await clock.advance(5);
    assert.equal(clock.now(), 10);
  });

  for (const ms of [-1, Number.NaN, Infinity, "5"]) {
    test(`refuses to advance by ${typeof ms} ${ms}`, () => {
      assert.throws(() => virtualClock().advance(ms), { code: "OPTION_INVALID" });
    });
  }
});

describe("D-5 systemClock", () => {
  test("fires at once what is due", async () => {
    await new Promise((resolve) => systemClock.setTimer(systemClock.now() - 5, resolve));
  });

  test("clamps a delay that the runtime's timers cannot hold, and can be cancelled", async () => {
    const cancel = systemClock.setTimer(systemClock.now() + 2 ** 40, () => assert.fail("it fired at once"));
    await new Promise((resolve) => setTimeout(resolve, 2));
    cancel();
  });

  test("has a monotonic and a wall scale", () => {
    assert.ok(systemClock.now() <= systemClock.now());
    assert.ok(systemClock.wallNow() > Date.UTC(2025, 0, 1));
  });
});
