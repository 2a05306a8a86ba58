import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { isToolResult, toolError, toolResult } from "../../js/definitions/tool-result.js";
import { KeelError } from "../../js/error.js";

describe("tool results", () => {
  test("toolResult keeps what was given and checks its options", () => {
    const result = toolResult({ value: 1, text: "one", metadata: { a: 1 }, control: { goto: "end" } });
    assert.ok(isToolResult(result));
    assert.deepEqual(
      { ...result },
      { kind: "tool-result", value: 1, text: "one", isError: false, metadata: { a: 1 }, control: { goto: "end" } },
    );
    assert.equal("text" in toolResult({ value: null }), false);
    assert.equal(isToolResult({ value: 1 }), false);
    assert.throws(() => toolResult({ values: 1 }), { code: "OPTION_UNKNOWN", message: /"value"/ });
    assert.throws(() => toolResult({ control: { goto: "start" } }), { code: "OPTION_INVALID" });
    assert.throws(() => toolResult({ text: 1 }), { code: "OPTION_INVALID" });
  });

  test("toolError can be returned as a result and thrown as a TOOL_FAILED error", () => {
    const failure = toolError("no such file");
    assert.ok(isToolResult(failure));
    assert.equal(failure.isError, true);
    assert.equal(failure.text, "no such file");
    assert.ok(KeelError.isInstance(failure));
    assert.equal(failure.code, "TOOL_FAILED");
    assert.equal(failure.message, "no such file");
  });
});
