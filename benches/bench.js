/**
 * What this package costs, as ratios to a plain hand-written loop that does the same JSON and zod work (`bare.js`) and to
 * the leanest package in JavaScript (`pi.js`, once `npm run bench:peers` has installed it), held to bars (`bars.js`).
 *
 *   npm run bench -- [--bun] [--node-24] [--rounds 5] [--long] [--peers bare,adapter,pi] [--write]
 *
 * `--long` also takes turns of 10,000 and 40,000 steps; `--write` puts the table into the README.
 */

import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { isPiInstalled, PI_TITLE } from "../scripts/peers.js";
import { RUNTIMES } from "../scripts/runtimes.js";
import { linesFor, OURS, PEERS } from "./bars.js";
import { writeTable } from "./readme-table.js";
import { printGrowth, printVerdicts } from "./report.js";
import { measureRounds, reasonNotToLoad, STEPS_GROWING, STEPS_GROWING_LONG } from "./rounds.js";
import { CORE, runtimeNamed } from "./runtime.js";
import { verdictOf } from "./verdict.js";

/** @typedef {import("./readme-table.js").Measured} Measured */

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    peers: { type: "string", default: Object.keys(PEERS).join(",") },
    long: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    ...Object.fromEntries(RUNTIMES.map((name) => [name, { type: /** @type {const} */ ("boolean") }])),
  },
});
const rounds = Math.max(1, Number(values.rounds) || 1);
const steps = values.long ? STEPS_GROWING_LONG : STEPS_GROWING;
const asked = values.peers.split(",");
const unknown = asked.filter((peer) => !(peer in PEERS));
if (unknown.length > 0)
  throw new Error(`--peers: expected some of ${Object.keys(PEERS).join(",")}, found ${unknown.join(",")}`);
if (values.write && !asked.includes(OURS)) throw new Error(`--write: expected ${OURS} among the peers`);
if (asked.includes("pi") && !isPiInstalled()) console.log(`without ${PI_TITLE}: npm run bench:peers installs it`);
const available = asked.filter((peer) => peer !== "pi" || isPiInstalled());

const named = RUNTIMES.filter((name) => /** @type {Record<string, unknown>} */ (values)[name]);
const measured = (named.length > 0 ? named : [undefined]).map(bench).filter((result) => result !== undefined);
if (values.write && measured.length > 0) {
  writeTable(measured, { rounds, piTitle: PI_TITLE });
  console.log("\nREADME.md has the table");
}

/**
 * @param {import("../scripts/runtimes.js").RuntimeName | undefined} name
 * @returns {Measured | undefined}
 */
function bench(name) {
  const runtime = runtimeNamed(name);
  if (runtime === undefined) {
    console.log(`${name} is not installed: node scripts/runtimes.js ${name}`);
    process.exitCode = 1;
    return undefined;
  }
  const { title } = runtime;
  console.log(`\n${title}, ${process.platform} ${process.arch}, ${cpus()[0]?.model.trim()}`);
  console.log(CORE === undefined ? "not pinned to a core: there is no taskset" : `pinned to core ${CORE}`);
  console.log(`load ${loadavg()[0]?.toFixed(1)} at the beginning; CPU time unless it says otherwise; medians of`);
  console.log(`${rounds} rounds, with the least and the most; a ratio is of figures of the same round`);

  const peers = available.filter((peer) => isLoadable(runtime, peer));
  const results = measureRounds(runtime, { peers, rounds, isLong: values.long });
  const verdicts = linesFor(steps).map((line) => verdictOf(line, results));
  console.log();
  printVerdicts(verdicts, peers);
  printGrowth(results, peers, steps);
  return { title, verdicts, hasPi: peers.includes("pi") };
}

/**
 * pi is for Node 22 and later; elsewhere it is worth a try.
 *
 * @param {import("./runtime.js").Runtime} runtime
 * @param {string} peer
 */
function isLoadable(runtime, peer) {
  const reason = reasonNotToLoad(runtime, peer);
  if (reason === undefined) return true;
  if (peer !== "pi") throw new Error(reason);
  const [error = reason] = /^\w*Error\b.*$/m.exec(reason) ?? [];
  console.log(`without ${PI_TITLE}, which does not load under ${runtime.title}: ${error}`);
  return false;
}
