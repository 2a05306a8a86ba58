/**
 * The demo against a real model on an OpenAI-compatible server. It judges the structure (which turns opened, what was
 * validated, how they ended) and never the wording.
 *
 *   npm run e2e:llm -- --base-url URL [--model NAME] [--api-key KEY] [--rounds N]
 */

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

import { ROOT } from "./command.js";

const { values } = parseArgs({
  options: {
    "base-url": { type: "string" },
    model: { type: "string", default: "local" },
    "api-key": { type: "string" },
    rounds: { type: "string", default: "1" },
  },
});
const baseURL = values["base-url"];
if (baseURL === undefined) {
  console.error("usage: npm run e2e:llm -- --base-url URL [--model NAME] [--api-key KEY] [--rounds N]");
  process.exit(2);
}

let failed = 0;
for (let round = 1; round <= Number(values.rounds); round += 1) {
  for (const levels of [2, 3]) {
    const fault = faultOf(runDemo(baseURL, levels), levels);
    if (fault !== undefined) failed += 1;
    console.log(`round ${round}, ${levels} levels: ${fault ?? "ok"}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;

/**
 * @param {string} url
 * @param {number} levels
 * @returns {any[]} the events
 */
function runDemo(url, levels) {
  const key = values["api-key"] === undefined ? [] : ["--api-key", values["api-key"]];
  const args = ["--json", "--base-url", url, "--model", values.model, "--levels", String(levels), ...key];
  const { stdout, stderr } = spawnSync(process.execPath, ["examples/demo.js", ...args], {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (stderr !== "") console.error(stderr);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/**
 * @param {any[]} events
 * @param {number} levels
 * @returns {string | undefined}
 */
function faultOf(events, levels) {
  const of = (/** @type {string} */ type) => events.filter((event) => event.type === type);
  const [end] = of("demo.result");
  if (end === undefined) return "the demo printed no result";
  if (end.outcome.status !== "completed") return `the root turn ended as ${JSON.stringify(end.outcome)}`;
  const depths = new Set(of("turn.started").map(({ turnId }) => turnId.split(".").length));
  if (depths.size !== levels) return `turns opened on ${depths.size} levels`;
  const ends = events.filter(({ type }) => ["turn.completed", "turn.failed", "turn.stopped"].includes(type));
  if (ends.length !== of("turn.started").length)
    return `${of("turn.started").length} turns opened, ${ends.length} ended`;
  const delivered = of("part.emitted").filter(({ turnId }) => turnId.split(".").length === levels);
  if (delivered.length === 0) return "the deepest turn delivered nothing";
  return undefined;
}
