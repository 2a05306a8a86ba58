/**
 * The lines of the report: what each shows, where its figure is in a round, and the bars that it is held to.
 *
 * @typedef {import("./rounds.js").Round} Round
 *
 * @typedef {object} Bars upper bounds
 * @property {number} [bare] of the ratio to the bare loop
 * @property {number} [pi] of the ratio to pi
 * @property {number} [own] of the figure itself
 *
 * @typedef {object} Line
 * @property {string} what
 * @property {"µs" | "ms" | "MB" | "×"} unit
 * @property {(round: Round, peer: string) => number | undefined} figureOf
 * @property {Bars | undefined} bars undefined where ratios would be noise, as with the next to nothing that others keep
 */

/** The peers, and what they are called. */
export const PEERS = Object.freeze({ bare: "bare loop", adapter: "keel-native", pi: "pi" });
export const OURS = "adapter";

const PI = 0.7;

/**
 * @param {readonly number[]} steps the lengths of the turns of which growth was measured
 * @returns {readonly Line[]}
 */
export function linesFor(steps) {
  const [shortest = 0] = steps;
  return [
    line("step with one validated tool call", "µs", figure("step", "us"), { bare: 3, pi: PI }),
    line("delegation to a child turn", "µs", figure("delegation", "us"), { bare: 6, pi: PI }),
    line("nested tool call, validated", "µs", figure("nested", "us"), { bare: 4.5, pi: PI }),
    line("· past three middleware", "µs", figure("guarded", "us"), { bare: 9, pi: PI }),
    line("step of 1000 concurrent turns, 20 ms model", "µs", figure("concurrent", "us"), { bare: 2.4, pi: PI }),
    line("· event-loop delay, 99th percentile", "ms", figure("concurrent", "delayP99Ms"), { bare: 2, pi: PI }),
    line("· memory at its peak", "MB", figure("memory", "peakMb"), { pi: PI }),
    line("· the same, no records kept", "MB", unrecorded("peakMb"), { pi: PI }),
    line("· memory that stays", "MB", figure("memory", "keptMb")),
    line("· the same, no records kept", "MB", unrecorded("keptMb")),
    line("import and first run, CPU above the runtime", "ms", aboveRuntime("cpuMs"), { pi: PI }),
    line("· of it neither runtime nor zod", "ms", aloneCpuMs, { own: 60 }),
    line("· elapsed, above the runtime", "ms", aboveRuntime("ms"), { pi: PI }),
    ...steps.filter((count) => count >= 2000).flatMap((count) => growthLines(shortest, count)),
  ];
}

/**
 * A ratio of growths says nothing about who is cheaper, so that pi's bar is on the cost.
 *
 * @param {number} shortest
 * @param {number} longest
 * @returns {Line[]}
 */
function growthLines(shortest, longest) {
  const cost = figure("growth", "us", String(longest));
  const before = figure("growth", "us", String(shortest));
  return [
    line(`step of a turn of ${longest} steps`, "µs", cost, { pi: PI }),
    line(
      `· to that of one of ${shortest}`,
      "×",
      (round, peer) => quotient(cost(round, peer), before(round, peer)),
      longest === 2000 ? { bare: 1.1 } : {},
    ),
  ];
}

/**
 * @param {string} what
 * @param {Line["unit"]} unit
 * @param {Line["figureOf"]} figureOf
 * @param {Bars} [bars]
 * @returns {Line}
 */
function line(what, unit, figureOf, bars) {
  return { what, unit, figureOf, bars };
}

/**
 * @param {string} workload
 * @param {readonly string[]} path
 * @returns {Line["figureOf"]}
 */
function figure(workload, ...path) {
  return (round, peer) => path.reduce((value, key) => value?.[key], round[peer]?.[workload]);
}

/**
 * Memory when we keep no records, beside that of peers which never do.
 *
 * @param {string} name
 * @returns {Line["figureOf"]}
 */
function unrecorded(name) {
  return (round, peer) => figure(peer === OURS ? "unrecorded" : "memory", name)(round, peer);
}

/**
 * @param {string} name
 * @returns {Line["figureOf"]}
 */
function aboveRuntime(name) {
  const start = figure("start", name);
  return (round, peer) => difference(start(round, peer), start(round, "runtime"));
}

/**
 * What a package costs an application that has zod anyway. pi does without zod, so that this would not be its own cost.
 *
 * @type {Line["figureOf"]}
 */
function aloneCpuMs(round, peer) {
  if (peer === "pi") return undefined;
  const start = figure("start", "cpuMs");
  return difference(start(round, peer), start(round, "zod"));
}

/**
 * @param {number | undefined} minuend
 * @param {number | undefined} subtrahend
 */
function difference(minuend, subtrahend) {
  return minuend === undefined || subtrahend === undefined ? undefined : minuend - subtrahend;
}

/**
 * Undefined where there is nothing to divide by, as when less memory is held than before.
 *
 * @param {number | undefined} dividend
 * @param {number | undefined} divisor
 */
export function quotient(dividend, divisor) {
  return dividend === undefined || divisor === undefined || divisor <= 0 ? undefined : dividend / divisor;
}
