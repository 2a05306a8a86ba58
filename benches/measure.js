/**
 * Measures one workload of one peer in a process of its own and prints one line of JSON. Figures are CPU time of the whole
 * process (user and system, all threads), since on a shared machine elapsed time mostly tells what else is running.
 *
 *   node --expose-gc benches/measure.js <peer> <workload>
 */

import { monitorEventLoopDelay } from "node:perf_hooks";

import { counters } from "./work.js";

/** Warm enough for the just-in-time compilers. */
const WARM_MS = 1500;
/** Shorter repetitions would be mostly noise. */
const REPETITION_MS = 80;
const REPETITIONS = 5;

const STEPS = 200;
const STEPS_GROWING = [50, 200, 800, 2000];
const DELEGATIONS = 100;
const NESTED_CALLS = 1000;
const CONCURRENT = { runs: 1000, steps: 10, delayMs: 20 };

/** @type {Record<string, (adapter: any) => Promise<object | undefined>>} */
const workloads = {
  async step(adapter) {
    return { us: await cpuPerUnit(() => adapter.runSteps(STEPS), "tool", STEPS) };
  },

  async growth(adapter) {
    /** @type {Record<string, number>} */
    const us = {};
    for (const steps of STEPS_GROWING) us[steps] = await cpuPerUnit(() => adapter.runSteps(steps), "tool", steps);
    return { us };
  },

  async delegation(adapter) {
    return { us: await cpuPerUnit(() => adapter.runDelegations(DELEGATIONS), "child", DELEGATIONS) };
  },

  async concurrent(adapter) {
    const { runs, steps, delayMs } = CONCURRENT;
    const run = () => adapter.runConcurrent(runs, steps, delayMs);
    await adapter.runConcurrent(runs / 10, steps, delayMs);
    collectGarbage();
    const rssBefore = process.memoryUsage().rss;
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const us = (await cpuOf(run, "tool", runs * steps)) / (runs * steps);
    delay.disable();
    const rssPeak = process.resourceUsage().maxRSS * 1024;
    return { us, delayP99Ms: delay.percentile(99) / 1e6, memoryMb: (rssPeak - rssBefore) / 2 ** 20 };
  },

  async start(adapter) {
    await adapter?.runTrivial();
    const { user, system } = process.cpuUsage();
    return { cpuMs: (user + system) / 1000, ms: performance.now() };
  },

  async nested(adapter) {
    if (!adapter.nested) return undefined;
    return { us: await cpuPerUnit(() => adapter.nested(NESTED_CALLS), "nested", NESTED_CALLS) };
  },

  /** The same past three middleware, where the peer has such a thing. */
  async guarded(adapter) {
    const run = adapter.nestedGuarded ?? adapter.nested;
    return { us: await cpuPerUnit(() => run(NESTED_CALLS), "nested", NESTED_CALLS) };
  },
};

const [peer = "", workload = ""] = process.argv.slice(2);
const measure = workloads[workload];
if (!measure) throw new Error(`expected a workload (${Object.keys(workloads).join(", ")}), found '${workload}'`);
// Without a peer, `start` is what the runtime itself takes.
const adapter = peer === "runtime" ? undefined : (await import(`./${peer}.js`)).default;
console.log(JSON.stringify((await measure(adapter)) ?? null));
process.exit(0);

/**
 * Microseconds of CPU for one unit: the median of some repetitions, once warm.
 *
 * @param {() => Promise<unknown>} run
 * @param {keyof typeof counters} counted
 * @param {number} units how many of them one run brings
 */
async function cpuPerUnit(run, counted, units) {
  const began = performance.now();
  let lastMs = 0;
  while (performance.now() - began < WARM_MS) {
    const before = performance.now();
    await cpuOf(run, counted, units);
    lastMs = performance.now() - before;
  }
  const times = Math.max(1, Math.ceil(REPETITION_MS / lastMs));
  const repetitions = [];
  for (let index = 0; index < REPETITIONS; index += 1) {
    let us = 0;
    for (let time = 0; time < times; time += 1) us += await cpuOf(run, counted, units);
    repetitions.push(us / times / units);
  }
  return /** @type {number} */ (repetitions.sort((a, b) => a - b)[REPETITIONS >> 1]);
}

/**
 * Microseconds of CPU that one run takes.
 *
 * @param {() => Promise<unknown>} run
 * @param {keyof typeof counters} counted
 * @param {number} units
 */
async function cpuOf(run, counted, units) {
  counters[counted] = 0;
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  if (counters[counted] !== units)
    throw new Error(`${peer} ${workload}: expected ${units}, counted ${counters[counted]}`);
  return user + system;
}

function collectGarbage() {
  /** @type {any} */ (globalThis).gc?.();
  /** @type {any} */ (globalThis).Bun?.gc(true);
}
