/** Many runs at once: their CPU, how long they keep the event loop from others, and their memory. */

import { monitorEventLoopDelay } from "node:perf_hooks";

import { cpuOf } from "./cpu-time.js";
import { forgetPeak, memoryAfterCollection, peakMemory } from "./memory.js";
import { median } from "./spread.js";

/** @typedef {import("./workloads.js").RunConcurrent} RunConcurrent */

const RUNS = 1000;
const STEPS = 10;
const DELAY_MS = 20;
const REPETITIONS = 3;
const DELAY_RESOLUTION_MS = 5;
const MEBIBYTE = 2 ** 20;

/**
 * Medians of some repetitions.
 *
 * @param {RunConcurrent} runConcurrent
 */
export async function costOfConcurrent(runConcurrent) {
  await warm(runConcurrent);
  const us = [];
  const delaysP99Ms = [];
  while (us.length < REPETITIONS) {
    const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
    delay.enable();
    us.push((await cpuOf(() => runConcurrent(RUNS, STEPS, DELAY_MS), "tool", RUNS * STEPS)) / (RUNS * STEPS));
    delay.disable();
    delaysP99Ms.push(delay.percentile(99) / 1e6);
  }
  return { us: median(us), delayP99Ms: median(delaysP99Ms) };
}

/**
 * How much more there is at the peak, and how much of it stays. It takes a process of its own: collecting all that can be
 * collected takes compiled code with it.
 *
 * @param {RunConcurrent} runConcurrent
 */
export async function memoryOfConcurrent(runConcurrent) {
  await warm(runConcurrent);
  const before = await memoryAfterCollection();
  forgetPeak();
  await runConcurrent(RUNS, STEPS, DELAY_MS);
  const peak = peakMemory();
  const kept = await memoryAfterCollection();
  return { peakMb: (peak - before) / MEBIBYTE, keptMb: (kept - before) / MEBIBYTE };
}

/** @param {RunConcurrent} runConcurrent */
async function warm(runConcurrent) {
  await runConcurrent(RUNS / 10, STEPS, DELAY_MS);
}
