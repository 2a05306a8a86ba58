import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { describeModelError } from "../../js/model/call-model.js";

const failure = (fields, message = "failed") => Object.assign(new Error(message), fields);
const retryable = (error) => describeModelError(error).retryable;

describe("NT-40 which failures are worth a retry", () => {
  const yes = {
    "its own word": failure({ isRetryable: true, statusCode: 400 }),
    "status 408": failure({ statusCode: 408 }),
    "status 429": failure({ status: 429 }),
    "status 503": failure({ statusCode: 503 }),
    "a reset connection": failure({ code: "ECONNRESET" }),
    "an HTTP client's timeout": failure({ code: "UND_ERR_HEADERS_TIMEOUT" }),
    "a failed fetch": new TypeError("fetch failed", { cause: failure({ code: "ENOTFOUND" }) }),
    "a cut body": new TypeError("terminated"),
    "a cut body of a good response": failure({
      statusCode: 200,
      isRetryable: false,
      cause: new TypeError("terminated"),
    }),
    "Bun's closed connection": failure({ code: "ConnectionClosed" }),
    "a timeout of the model's own": new DOMException("timed out", "TimeoutError"),
    "an overload within a stream": { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  };
  for (const [name, error] of Object.entries(yes)) test(`${name} is`, () => assert.equal(retryable(error), true));

  const no = {
    "status 400": failure({ statusCode: 400 }),
    "status 401": failure({ statusCode: 401, isRetryable: false }),
    "a server error that says no": failure({ statusCode: 500, isRetryable: false }),
    "a bad request with a broken body": failure({
      statusCode: 400,
      isRetryable: false,
      cause: new TypeError("terminated"),
    }),
    "an abort": new DOMException("aborted", "AbortError"),
    "an abort within a failed fetch": new TypeError("fetch failed", {
      cause: new DOMException("aborted", "AbortError"),
    }),
    "an ordinary error": new TypeError("x is not a function"),
    "a misused client": failure({ code: "UND_ERR_INVALID_ARG" }),
  };
  for (const [name, error] of Object.entries(no)) test(`${name} is not`, () => assert.equal(retryable(error), false));
});

describe("NT-40 how long a server asks to wait", () => {
  const after = (responseHeaders) => describeModelError(failure({ statusCode: 429, responseHeaders })).retryAfterMs;

  test("in seconds, milliseconds, or none", () => {
    assert.equal(after({ "retry-after": "3" }), 3000);
    assert.equal(after({ "Retry-After": "0" }), 0);
    assert.equal(after({ "retry-after": "1.5" }), 1500);
    assert.equal(after({ "retry-after-ms": "250", "retry-after": "3" }), 250);
    assert.equal(after({ "retry-after": "soon" }), undefined);
    assert.equal(after({ "retry-after": "-3" }), undefined);
    assert.equal(after({}), undefined);
    assert.equal(after(undefined), undefined);
    assert.equal(after(new Headers({ "retry-after": "3" })), 3000);
  });

  test("as a date: what is past is now", () => {
    assert.equal(after({ "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }), 0);
    const inAnHour = after({ "retry-after": new Date(Date.now() + 3_600_000).toUTCString() });
    assert.ok(inAnHour > 0 && inAnHour <= 3_600_000);
  });

  test("also in an error beneath, or in plain words", () => {
    assert.equal(
      describeModelError(failure({ cause: failure({ responseHeaders: { "retry-after": "3" } }) })).retryAfterMs,
      3000,
    );
    assert.equal(describeModelError(failure({ isRetryable: true, retryAfterMs: 40 })).retryAfterMs, 40);
  });
});

describe("NT-41 whatever is thrown can be described", () => {
  const refuse = () => {
    throw new Error("hands off");
  };
  const loop = failure({});
  loop.cause = loop;
  const thrown = {
    undefined: [undefined, "thrown: undefined"],
    null: [null, "thrown: null"],
    "a string": ["no key", "no key"],
    "a symbol": [Symbol("s"), "thrown: Symbol(s)"],
    "an object": [{ detail: 1 }, '{"detail":1}'],
    "a throwing getter": [
      Object.defineProperty({}, "message", { get: refuse, enumerable: true }),
      "an error that cannot be read",
    ],
    "a hostile proxy": [
      new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse }),
      "an error that cannot be read",
    ],
    "a circular cause": [loop, "failed"],
    "a lone surrogate": [new Error("\ud800"), "\ufffd"],
  };
  for (const [name, [error, message]] of Object.entries(thrown)) {
    test(name, () => {
      const described = describeModelError(error);
      assert.equal(described.message, message);
      assert.equal(described.retryable, false);
      assert.equal(described.name, "Error");
    });
  }
});
