/**
 * The whole suite: the Rust tests, then the JavaScript tests under every supported runtime. It ends with one line,
 * `N passed, N failed`, and a non-zero exit code when anything failed.
 *
 *   node scripts/test.js [--only rust|node|bun|20|22|24|26]…
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { ROOT, runAndCollect } from "./command.js";
import { ensureRuntime, RUNTIMES } from "./runtimes.js";

/** @typedef {{ suite: string, passed: number, failed: number, seconds: number }} Result */

const CONCURRENT_FILES = 2;

/** These start the other runtimes themselves, so one run of them covers all. */
const ONCE = new Set([join("package", "install.test.js")]);

const { values } = parseArgs({ options: { only: { type: "string", multiple: true } } });
const only = values.only ?? [];
// All of them first: some tests start the other runtimes.
const runtimes = wantedRuntimes();

/** @type {Result[]} */
const results = [];
if (isWanted("rust")) results.push(await testRust());
for (const { name, runtime } of runtimes) {
  results.push(name === "bun" ? await testBun(runtime) : await testNode(name, runtime, runtime === process.execPath));
}
close();

/** The supported runtimes, and the Node that runs this when it is none of them. */
function wantedRuntimes() {
  const current = `node-${process.versions.node.split(".")[0]}`;
  const found = new Map(
    RUNTIMES.some((name) => name === current) || !isWanted("node", current) ? [] : [[current, process.execPath]],
  );
  for (const name of RUNTIMES) {
    if (!isWanted(name, ...name.split("-"))) continue;
    const runtime = ensureRuntime(name);
    if (runtime !== undefined) found.set(name, runtime);
  }
  return [...found].map(([name, runtime]) => ({ name, runtime }));
}

/** @param {string[]} names */
function isWanted(...names) {
  return only.length === 0 || names.some((name) => only.includes(name));
}

async function testRust() {
  const args = ["test", "--no-default-features", "--color", "never"];
  return timed("rust", "cargo", args, (output) => ({
    passed: sum(output, /^test result: .*?(\d+) passed/gm),
    failed: sum(output, /^test result: .*?(\d+) failed/gm),
  }));
}

/**
 * @param {string} name
 * @param {string} runtime
 * @param {boolean} isCurrent
 */
async function testNode(name, runtime, isCurrent) {
  const args = ["--test", `--test-concurrency=${CONCURRENT_FILES}`, "--test-reporter=spec", ...testFiles(isCurrent)];
  return timed(name, runtime, args, (output) => ({
    passed: sum(output, /^ℹ pass (\d+)$/gm),
    failed: sum(output, /^ℹ (?:fail|cancelled) (\d+)$/gm),
  }));
}

/** @param {string} runtime */
async function testBun(runtime) {
  const args = ["test", "--timeout", "120000", ...testFiles(false).map((file) => `./${file}`)];
  return timed("bun", runtime, args, (output) => ({
    passed: sum(output, /^\s*(\d+) pass$/gm),
    failed: sum(output, /^\s*(\d+) fail$/gm),
  }));
}

/**
 * @param {string} suite
 * @param {string} command
 * @param {string[]} args
 * @param {(output: string) => { passed: number, failed: number }} count
 * @returns {Promise<Result>}
 */
async function timed(suite, command, args, count) {
  console.log(`\n── ${suite} ──`);
  const startedAt = Date.now();
  // A runner must not take this process for one of its own children, and colours would hide the counts.
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...env } = process.env;
  const { code, output } = await runAndCollect(command, args, { env: { ...env, NO_COLOR: "1" } });
  const { passed, failed } = count(output);
  // A crash leaves no count behind; neither does a build that fails.
  const missed = failed === 0 && (code !== 0 || passed === 0) ? 1 : 0;
  return { suite, passed, failed: failed + missed, seconds: Math.round((Date.now() - startedAt) / 1000) };
}

/** @param {boolean} isCurrent */
function testFiles(isCurrent) {
  return readdirSync(join(ROOT, "__tests__"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.js") && (isCurrent || !ONCE.has(file)))
    .map((file) => join("__tests__", file))
    .toSorted();
}

/**
 * @param {string} output
 * @param {RegExp} pattern its first group is a number
 */
function sum(output, pattern) {
  return [...output.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0);
}

function close() {
  console.log("");
  for (const { suite, passed, failed, seconds } of results) {
    console.log(
      `${suite.padEnd(8)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed  ${seconds} s`,
    );
  }
  const passed = results.reduce((total, result) => total + result.passed, 0);
  const failed = results.reduce((total, result) => total + result.failed, 0);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}
