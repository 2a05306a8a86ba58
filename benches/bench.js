/**
 * What this package costs, as ratios to a plain hand-written loop that does the same JSON and zod work (`bare.js`). Each
 * figure is measured in a process of its own (`measure.js`); the peers take turns, so that what else the machine does
 * falls on both, and the table shows medians over the rounds.
 *
 *   npm run bench -- [--bun] [--node-24] [--rounds 5]
 */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { installedRuntime, RUNTIMES } from "../scripts/runtimes.js";

const PEERS = Object.freeze({ bare: "bare loop", adapter: "keel-native" });

/** The longest bar of the figure, in characters. */
const BAR_WIDTH = 40;

/** How long one process may take. */
const TIMEOUT_MS = 120_000;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    ...Object.fromEntries(RUNTIMES.map((name) => [name, { type: /** @type {const} */ ("boolean") }])),
  },
});
const rounds = Math.max(1, Number(values.rounds) || 1);
const named = RUNTIMES.filter((name) => /** @type {any} */ (values)[name]);
for (const runtime of named.length > 0 ? named : ["this runtime"]) bench(runtime);

/** @param {string} runtime */
function bench(runtime) {
  const executable = executableOf(runtime);
  if (executable === undefined) {
    console.log(`${runtime} is not installed: node scripts/runtimes.js ${runtime}`);
    process.exitCode = 1;
    return;
  }
  const { stdout } = spawnSync(executable, ["--version"], { encoding: "utf8" });
  const version = runtime === "bun" ? `Bun ${stdout.trim()}` : `Node ${stdout.trim()}`;
  const measured = measureAll(executable);
  console.log(
    `\n${version}, ${process.platform} ${process.arch}, medians of ${rounds} rounds; CPU time unless it says otherwise\n`,
  );
  printTable(rowsOf(measured));
  printGrowth(measured);
}

/** @param {string} runtime */
function executableOf(runtime) {
  if (runtime === "this runtime" || runtime === `node-${process.versions.node.split(".")[0]}`) return process.execPath;
  return installedRuntime(/** @type {any} */ (runtime));
}

/**
 * @param {string} executable
 * @returns {(peer: string, workload: string, ...path: string[]) => number | undefined} the median of a figure
 */
function measureAll(executable) {
  /** @type {Record<string, any[]>} */
  const results = {};
  for (let round = 1; round <= rounds; round += 1) {
    for (const workload of ["start", "step", "delegation", "nested", "guarded", "concurrent", "growth"]) {
      const peers = [...(workload === "start" ? ["runtime"] : []), ...Object.keys(PEERS)];
      for (const peer of peers) {
        if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kround ${round} of ${rounds}: ${workload}, ${peer}`);
        (results[`${peer} ${workload}`] ??= []).push(measureOnce(executable, peer, workload));
      }
    }
  }
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  return (peer, workload, ...path) => {
    const figures = (results[`${peer} ${workload}`] ?? []).map((result) =>
      path.reduce((value, key) => value?.[key], result),
    );
    const known = figures.filter((figure) => typeof figure === "number").sort((a, b) => a - b);
    return known[known.length >> 1];
  };
}

/**
 * @param {string} executable
 * @param {string} peer
 * @param {string} workload
 * @returns {any}
 */
function measureOnce(executable, peer, workload) {
  const script = fileURLToPath(new URL("measure.js", import.meta.url));
  const flags = executable.includes("bun") ? [] : ["--expose-gc"];
  const { status, stdout, stderr, error } = spawnSync(executable, [...flags, script, peer, workload], {
    encoding: "utf8",
    timeout: TIMEOUT_MS,
  });
  if (status !== 0) throw new Error(`measuring ${workload} of ${peer} failed: ${error?.message ?? stderr}`);
  return JSON.parse(stdout);
}

/** @param {(peer: string, workload: string, ...path: string[]) => number | undefined} median */
function rowsOf(median) {
  const rows = [
    row("step with one validated tool call", "µs", ["step", "us"]),
    row("delegation to a child turn", "µs", ["delegation", "us"]),
    row("nested tool call, validated", "µs", ["nested", "us"]),
    row("· past three middleware", "µs", ["guarded", "us"]),
    row("step of 1000 concurrent turns, 20 ms model", "µs", ["concurrent", "us"]),
    row("· event-loop delay, 99th percentile", "ms", ["concurrent", "delayP99Ms"]),
    row("· memory at its peak", "MB", ["concurrent", "memoryMb"]),
    row("import and first run, CPU", "ms", ["start", "cpuMs"]),
    row("· elapsed", "ms", ["start", "ms"]),
    row("· of it the runtime itself, elapsed", "ms", ["start", "ms"], "runtime"),
  ];
  return rows.filter((cells) => cells !== undefined);

  /**
   * @param {string} what
   * @param {string} unit
   * @param {[workload: string, figure: string]} path
   * @param {string} [only]
   */
  function row(what, unit, path, only) {
    const bare = median(only ?? "bare", ...path);
    const ours = median(only ?? "adapter", ...path);
    if (bare === undefined || ours === undefined) return undefined;
    return [what, unit, short(bare), short(ours), only ? "" : `${short(ours / bare)}×`];
  }
}

/** @param {string[][]} rows */
function printTable(rows) {
  const all = [["", "", ...Object.values(PEERS), "ratio"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  for (const cells of all) {
    const padded = cells.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${padded.join("  ")}`);
  }
}

/** @param {(peer: string, workload: string, ...path: string[]) => number | undefined} median */
function printGrowth(median) {
  const steps = ["50", "200", "800", "2000"];
  const figures = Object.keys(PEERS).map((peer) => steps.map((count) => median(peer, "growth", "us", count) ?? 0));
  const most = Math.max(...figures.flat());
  console.log("\n  cost per step as a turn grows, µs of CPU\n");
  for (const [index, name] of Object.values(PEERS).entries()) {
    const own = /** @type {number[]} */ (figures[index]);
    const [first = 0] = own;
    for (const [place, figure] of own.entries()) {
      const bar = "█".repeat(Math.max(1, Math.round((figure / most) * BAR_WIDTH)));
      const growth = place === 0 ? "" : ` ${(figure / first).toFixed(2)}×`;
      console.log(
        `  ${(place === 0 ? name : "").padEnd(12)} ${String(steps[place]).padStart(5)} steps ${bar} ${short(figure)}${growth}`,
      );
    }
  }
}

/** @param {number} figure */
function short(figure) {
  return figure >= 100 ? figure.toFixed(0) : figure.toFixed(figure >= 10 ? 1 : 2);
}
