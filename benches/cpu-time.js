/** CPU time of a piece of work, and proof that the work was done. */

import { collectGarbage } from "./memory.js";
import { median } from "./spread.js";
import { counters } from "./work.js";

/** Warm enough for the just-in-time compilers. */
const WARM_MS = 1500;
/** Shorter repetitions would be mostly noise. */
const REPETITION_MS = 80;
const REPETITIONS = 5;
/** Longer runs are their own repetitions: one is enough. */
const LONG_MS = 5000;

/**
 * @typedef {object} Work
 * @property {() => Promise<unknown>} run
 * @property {number} units how many of what is counted one run brings
 */

/**
 * Microseconds of CPU for one unit: the median of some repetitions, once warm.
 *
 * @param {Work["run"]} run
 * @param {keyof typeof counters} counted
 * @param {number} units
 */
export async function cpuPerUnit(run, counted, units) {
  const [us] = await cpuPerUnitInTurn([{ run, units }], counted);
  return us;
}

/**
 * The same of several works, of which the repetitions take turns, so that what disturbs falls on all of them.
 *
 * @param {readonly Work[]} works
 * @param {keyof typeof counters} counted
 */
export async function cpuPerUnitInTurn(works, counted) {
  const samplings = [];
  for (const work of works) {
    const lastMs = await warm(work, counted);
    const times = Math.max(1, Math.ceil(REPETITION_MS / lastMs));
    const repetitions = lastMs > LONG_MS ? 1 : REPETITIONS;
    samplings.push({ ...work, times, repetitions, samples: /** @type {number[]} */ ([]) });
  }
  for (let index = 0; index < REPETITIONS; index += 1) {
    for (const { run, units, times, repetitions, samples } of samplings) {
      if (index >= repetitions) continue;
      collectGarbage();
      let us = 0;
      for (let time = 0; time < times; time += 1) us += await cpuOf(run, counted, units);
      samples.push(us / times / units);
    }
  }
  return samplings.map(({ samples }) => median(samples));
}

/**
 * @param {Work} work
 * @param {keyof typeof counters} counted
 * @returns {Promise<number>} milliseconds that the last run took
 */
async function warm({ run, units }, counted) {
  const began = performance.now();
  for (;;) {
    const before = performance.now();
    await cpuOf(run, counted, units);
    const now = performance.now();
    if (now - began >= WARM_MS) return now - before;
  }
}

/**
 * Microseconds of CPU that one run takes.
 *
 * @param {() => Promise<unknown>} run
 * @param {keyof typeof counters} counted
 * @param {number} units
 */
export async function cpuOf(run, counted, units) {
  counters[counted] = 0;
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  if (counters[counted] !== units) throw new Error(`${counted}: expected ${units}, counted ${counters[counted]}`);
  return user + system;
}
