/**
 * Measures every workload of every peer, once a round, each in a process of its own (`measure.js`). The peers take turns,
 * so that what else the machine does falls on all of them.
 */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { median } from "./spread.js";

/** @typedef {Record<string, Record<string, any>>} Round figures by peer and workload */
/** @typedef {import("./runtime.js").Runtime} Runtime */

export const STEPS_GROWING = Object.freeze([50, 200, 800, 2000]);
export const STEPS_GROWING_LONG = Object.freeze([...STEPS_GROWING, 10_000, 40_000]);

const WORKLOADS = ["start", "step", "delegation", "nested", "guarded", "concurrent", "memory", "unrecorded", "growth"];

/** What starts beside the peers: nothing, and the schema library alone. */
const STARTING = ["runtime", "zod"];
/** A start is short and much disturbed. */
const STARTS = 5;

/** How long one process may take. */
const TIMEOUT_MS = 600_000;

/**
 * @param {Runtime} runtime
 * @param {{ peers: readonly string[], rounds: number, isLong: boolean }} options
 * @returns {Round[]}
 */
export function measureRounds(runtime, { peers, rounds, isLong }) {
  return Array.from({ length: rounds }, (_, index) => {
    /** @type {Round} */
    const round = Object.fromEntries([...STARTING, ...peers].map((peer) => [peer, {}]));
    for (const workload of WORKLOADS) {
      tellProgress(`round ${index + 1} of ${rounds}: ${workload}`);
      const figures = workload === "start" ? starts(runtime, peers) : measureAll(runtime, peers, workload, isLong);
      for (const [peer, figure] of Object.entries(figures)) Object.assign(round[peer] ?? {}, { [workload]: figure });
    }
    tellProgress("");
    return round;
  });
}

/**
 * Whether a peer loads here. Every peer is asked before the first round, which also fills the caches of the file system.
 *
 * @param {Runtime} runtime
 * @param {string} peer
 * @returns {string | undefined} why not
 */
export function reasonNotToLoad(runtime, peer) {
  try {
    measure(runtime, peer, "start");
    return undefined;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}

/**
 * @param {Runtime} runtime
 * @param {readonly string[]} peers
 */
function starts(runtime, peers) {
  const all = [...STARTING, ...peers];
  const samples = Array.from({ length: STARTS }, () => all.map((peer) => measure(runtime, peer, "start")));
  return Object.fromEntries(
    all.map((peer, place) => {
      const own = samples.map((sample) => sample[place]);
      return [peer, { cpuMs: median(own.map(({ cpuMs }) => cpuMs)), ms: median(own.map(({ ms }) => ms)) }];
    }),
  );
}

/**
 * @param {Runtime} runtime
 * @param {readonly string[]} peers
 * @param {string} workload
 * @param {boolean} isLong
 */
function measureAll(runtime, peers, workload, isLong) {
  return Object.fromEntries(
    peers.map((peer) => {
      const steps = isLong && peer !== "pi" ? STEPS_GROWING_LONG : STEPS_GROWING;
      return [peer, measure(runtime, peer, workload, ...(workload === "growth" ? [steps.join(",")] : []))];
    }),
  );
}

/**
 * @param {Runtime} runtime
 * @param {string} peer
 * @param {string} workload
 * @param {readonly string[]} rest
 * @returns {any}
 */
function measure({ command: [command = "", ...args] }, peer, workload, ...rest) {
  const script = fileURLToPath(new URL("measure.js", import.meta.url));
  const { status, stdout, stderr, error } = spawnSync(command, [...args, script, peer, workload, ...rest], {
    encoding: "utf8",
    timeout: TIMEOUT_MS,
  });
  if (status === 0) return JSON.parse(stdout);
  throw new Error(`measuring ${workload} of ${peer} failed: ${error?.message ?? stderr}`);
}

/** @param {string} text */
function tellProgress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}
