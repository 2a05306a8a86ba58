import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ERROR_CODES, KeelError } from "../../js/error.js";

const other = await import("../../js/error.js?copy=2");

test("NT-10 a KeelError has a code, a message and the place where its code is explained", () => {
  const error = new KeelError("TOOL_ID_TAKEN", "two of them", { details: { id: "search" } });
  assert.equal(error.code, "TOOL_ID_TAKEN");
  assert.equal(error.message, "two of them");
  assert.equal(error.docs, "https://keel.dev/errors#tool-id-taken");
  assert.deepEqual(error.details, { id: "search" });
  assert.equal(String(error), "KeelError: two of them");
});

test("NT-10 the cause stays the thrown object itself, and is absent when there is none", () => {
  const cause = new TypeError("inner");
  assert.equal(new KeelError("INTERNAL", "outer", { cause }).cause, cause);
  assert.equal("cause" in new KeelError("INTERNAL", "outer"), false);
});

test("NT-10 isInstance knows errors of another copy of the package, and nothing else", () => {
  assert.notEqual(other.KeelError, KeelError);
  assert.equal(KeelError.isInstance(new other.KeelError("STOPPED", "")), true);
  assert.equal(other.KeelError.isInstance(new KeelError("STOPPED", "")), true);
  for (const value of [new Error(""), { name: "KeelError", code: "STOPPED" }, null, undefined, "KeelError", 1]) {
    assert.equal(KeelError.isInstance(value), false);
  }
});

test("NT-10 every code of the table is SCREAMING_SNAKE and explained", () => {
  for (const [code, meaning] of Object.entries(ERROR_CODES)) {
    assert.match(code, /^[A-Z]+(_[A-Z]+)*$/);
    assert.match(meaning, /\.$/);
  }
});

test("BL-135 a KeelError is an Error, and its clone keeps name, message and code", () => {
  const error = new KeelError("BUDGET_INVALID", "budget.steps: expected more", { details: () => {}, cause: () => {} });
  assert.ok(error instanceof Error);
  assert.ok(error instanceof KeelError);
  assert.equal(Object.prototype.toString.call(error), "[object Error]");
  const clone = structuredClone(error);
  assert.equal(clone.name, "KeelError");
  assert.equal(clone.message, error.message);
  assert.equal(clone.code, "BUDGET_INVALID");
});

test("BL-135 assertions on classes and messages take a KeelError", async () => {
  const fail = () => {
    throw new KeelError("DEPTH", "too deep");
  };
  assert.throws(fail, KeelError);
  assert.throws(fail, { name: "KeelError", code: "DEPTH", message: "too deep" });
  await assert.rejects(async () => fail(), KeelError);
});

test("BL-135 a subclass stays one, and the stack names message and file", () => {
  class PolicyError extends KeelError {
    policy = "strict";
  }
  const error = new PolicyError("TOOL_FAILED", "not today");
  assert.ok(error instanceof PolicyError);
  assert.equal(error.policy, "strict");
  assert.match(String(error.stack), /error\.test\.js/);
  assert.match(String(new Error("x", { cause: error }).cause), /not today/);
});

test("BL-135 an uncaught KeelError is printed with its message", () => {
  const file = fileURLToPath(new URL("../../js/error.js", import.meta.url));
  const script = `import { KeelError } from ${JSON.stringify(file)}; throw new KeelError("DEPTH", "printed message");`;
  assert.throws(
    () => execFileSync(process.execPath, ["--input-type=module", "-e", script], { stdio: "pipe" }),
    (/** @type {any} */ error) => error.status !== 0 && String(error.stderr).includes("printed message"),
  );
});
