import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { checkBudget, checkLimits } from "../../js/definitions/budget.js";

describe("budgets and limits", () => {
  test("BL-005 every field of a budget has its range", () => {
    const budget = { steps: 1, timeMs: 1, toolCalls: 1, tokens: 1, costUsd: 0.01, onExhausted: "answer" };
    assert.deepEqual(checkBudget(budget, "run"), budget);
    assert.equal(checkBudget(undefined, "run"), undefined);
    for (const name of ["steps", "timeMs", "toolCalls", "tokens", "costUsd"]) {
      for (const bad of ["5", 0, -1, NaN, Infinity, null, 5n, {}, []]) {
        assert.throws(() => checkBudget({ [name]: bad }, "run"), {
          code: "BUDGET_INVALID",
          message: new RegExp(`run: budget\\.${name}`),
        });
      }
    }
    for (const bad of [null, [], 5, "5"]) assert.throws(() => checkBudget(bad, "run"), { code: "BUDGET_INVALID" });
    assert.throws(() => checkBudget({ onExhausted: "stop" }, "run"), { code: "BUDGET_INVALID" });
  });

  test("NT-09 every limit has its range", () => {
    const limits = {
      maxNestedDepth: 0,
      maxModelRetries: 0,
      hookTimeoutMs: 1,
      behavior: "stopWithPartial",
      tree: { steps: 1, costUsd: 0.5 },
      toolTimeout: { minMs: 5, maxMs: 5 },
    };
    assert.deepEqual(checkLimits(limits, "run"), limits);
    for (const bad of [
      { maxNestedDepth: -1 },
      { maxDepth: 1.5 },
      { hookTimeoutMs: 0 },
      { behavior: "stop" },
      { tree: { steps: 0 } },
      { tree: null },
      { toolTimeout: { minMs: 6, maxMs: 5 } },
      { toolTimeout: { minMs: 0 } },
      null,
    ]) {
      assert.throws(() => checkLimits(bad, "run"), { code: "LIMIT_INVALID", message: /^run: limits/ });
    }
    assert.throws(() => checkLimits({ maxNestedDepht: 1 }, "run"), {
      code: "OPTION_UNKNOWN",
      message: /"maxNestedDepth"/,
    });
    assert.throws(() => checkLimits({ tree: { timeMs: 1 } }, "run"), {
      code: "OPTION_UNKNOWN",
      message: /limits\.tree/,
    });
  });
});
