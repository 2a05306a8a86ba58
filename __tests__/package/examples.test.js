import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const EXAMPLES = new URL("../../examples/", import.meta.url);

/** @type {Record<string, (output: string) => void>} what each example has to print */
const EXPECTED = {
  "quickstart.js"(output) {
    assert.match(output, /^completed - Customers can return things for 30 days/m);
    assert.match(output, /^researcher \S+\.1 completed 2 of 4 steps$/m);
    assert.match(output, /^assistant \S+ completed 2 of 25 steps$/m);
  },
  "contract.js"(output) {
    assert.match(output, /^kept: \{"ok":true,"deliverable":\{"claims":\["it is raining"\],"confidence":0\.9\}\}$/m);
    assert.match(output, /^broken: completed \{"ok":false,"cause":\{"code":"DELIVERABLE_MISSING"/m);
    assert.match(output, /^root: it stopped$/m);
  },
  "streaming.js"(output) {
    const pieces = [...output.matchAll(/^data: (".*")$/gm)].map(([, piece]) => JSON.parse(piece ?? ""));
    assert.equal(pieces.join(""), "Rain on the harbour.");
    assert.match(output, /event: end\ndata: \{"status":"completed"\}$/);
  },
  "stop-and-timeout.js"(output) {
    assert.match(output, /^signal: \{"status":"stopped","reason":"the user closed the window"\}$/m);
    assert.match(output, /^deadline: completed - It took too long\.$/m);
    assert.match(output, /^its child: agent 'slow' ran out of time/m);
    assert.match(output, /^stop: \{"status":"stopped","reason":\{"by":"operator"\}\}$/m);
  },
  "access.js"(output) {
    assert.equal(
      output,
      "offered: read-files\nrefused: delete-files ACCESS_DENIED\nran: read-files\ndefinition: GRANT_MISSING",
    );
  },
  "nested-calls.js"(output) {
    const reason = "send-money refused, money is not sent on a Sunday";
    assert.deepEqual(output.split("\n"), [
      "half a guard: NESTED_UNGUARDED",
      `treasurer, by the model: ${reason}`,
      `treasurer, by call call-2: ${reason}`,
      `treasurer, by call call-3/1: ${reason}`,
      `clerk, by the model: ${reason}`,
      `clerk, by call call-2: ${reason}`,
      "completed after 5 steps; 3 calls, 1 nested; sent 0 times",
    ]);
  },
  "approvals.js"(output) {
    assert.deepEqual(output.split("\n"), [
      'suspended: approval refund {"euros":500}',
      "suspended: external inspect-parcel",
      "completed - Done.",
      'refund: "refunded 5 euros"',
      'refund: "refunded 500 euros"',
      "refund: \"call 'refund' denied: never that much\"",
      'inspect-parcel: {"damaged":false}',
    ]);
  },
  "testing.js"(output) {
    assert.match(output, /^the model read: invalid arguments for 'weather'/m);
    assert.match(output, /^after a minute: BUDGET_TIME$/m);
    assert.match(output, /^retried: Fine\. 1 step, 30 s$/m);
  },
  "ai-sdk.js"(output) {
    assert.equal(output, "Hello. 9 + 2 tokens, 0.000057 USD");
  },
};

describe("examples", () => {
  for (const [name, check] of Object.entries(EXPECTED)) {
    test(`${name} runs and prints what it shows`, async () => {
      const { code, stdout, stderr } = await runExample(name);
      assert.equal(code, 0, stderr);
      assert.equal(stderr, "");
      check(stdout.trim());
    });
  }

  test("every example is run by a test", () => {
    const files = readdirSync(EXAMPLES).filter((file) => file.endsWith(".js"));
    assert.deepEqual(files.toSorted(), [...Object.keys(EXPECTED), "demo.js"].toSorted());
  });

  test("the README's quickstart is examples/quickstart.js", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const [, block] = /<!-- quickstart -->\s*```js\n([\s\S]*?)```/.exec(readme) ?? [];
    const example = readFileSync(new URL("quickstart.js", EXAMPLES), "utf8");
    assert.equal(block?.trim(), example.slice(example.indexOf("import")).trim());
  });
});

describe("the demo", () => {
  test("NT-02 NT-37 three levels run by script; a failed child stands under a completed root", async () => {
    const { code, stdout, stderr } = await runExample("demo.js", ["--json", "--pace", "0"]);
    assert.equal(code, 0, stderr);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const opened = events.filter(({ type }) => type === "turn.started").map(levelAndAgent);
    assert.deepEqual(opened, ["1 assistant", "2 researcher", "3 analyst", "3 fact-checker"]);
    const completed = events.filter(({ type }) => type === "turn.completed").map(levelAndAgent);
    assert.deepEqual(completed, ["3 analyst", "2 researcher", "1 assistant"]);
    const failed = events.filter(({ type }) => type === "turn.failed");
    assert.deepEqual(
      failed.map(({ cause }) => cause.code),
      ["BUDGET_STEPS"],
    );
    const nudge = events.find(({ type }) => type === "nudge.sent");
    assert.equal(nudge.issues[0].path, "/changePercent");
    assert.ok(events.some(({ type, forwardedFrom }) => type === "tool.progress" && forwardedFrom !== undefined));
    assert.deepEqual(events.at(-1).outcome, { status: "completed" });
  });

  test("without a terminal it prints plain lines, the answer and the tree of records", async () => {
    const { code, stdout, stderr } = await runExample("demo.js", ["--pace", "0"]);
    assert.equal(code, 0, stderr);
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    assert.doesNotMatch(stdout, /\u001B/);
    assert.match(stdout, /^Answer\nThe harbour shop/m);
    assert.match(stdout, /^T1 assistant +completed +2 of 4 steps, 1 of 4 calls/m);
    assert.match(stdout, /^└─ T2 researcher +completed +3 of 6 steps/m);
    assert.match(stdout, /^ {3}├─ T3 analyst +completed +3 of 4 steps and 1 nudge/m);
    assert.match(stdout, /^ {3}└─ T3 fact-checker +failed BUDGET_STEPS +1 of 1 steps/m);
  });

  test("a command line that makes no sense is told so", async () => {
    for (const [args, message] of /** @type {const} */ ([
      [["--model", "m"], "--model needs --base-url"],
      [["--base-url", "nonsense", "--model", "m"], '--base-url: expected a URL, found "nonsense"'],
      [["--base-url", "http://127.0.0.1:1/v1"], "--base-url needs --model"],
      [["--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--levels", "4"], "--levels: expected 2 or 3"],
    ])) {
      const { code, stderr } = await runExample("demo.js", [...args]);
      assert.equal(code, 2);
      assert.ok(stderr.startsWith(message), stderr);
    }
  });

  test("a server that cannot be reached ends the root turn, not the process", async () => {
    const args = ["--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--json"];
    const { code, stdout } = await runExample("demo.js", args);
    assert.equal(code, 1);
    const { outcome } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    assert.equal(outcome.cause.code, "MODEL_ERROR");
  });
});

/** @param {{ turnId: string, agentId: string }} event */
function levelAndAgent({ turnId, agentId }) {
  return `${turnId.split(".").length} ${agentId}`;
}

/**
 * @param {string} name
 * @param {string[]} [args]
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string }>}
 */
function runExample(name, args = []) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(new URL(name, EXAMPLES)), ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
