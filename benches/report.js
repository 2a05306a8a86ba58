/** Prints what was measured under one runtime. */

import { OURS, PEERS } from "./bars.js";
import { spreadOf } from "./spread.js";
import { rangeOf, short, wordOf } from "./wording.js";

/** The longest bar of the chart, in characters. */
const CHART_WIDTH = 40;

/** Columns of text; the others are figures. */
const COLUMNS_LEFT = new Set([0, 1]);

/** @typedef {import("./verdict.js").Verdict} Verdict */

/**
 * @param {readonly Verdict[]} verdicts
 * @param {readonly string[]} peers
 */
export function printVerdicts(verdicts, peers) {
  const hasPi = peers.includes("pi");
  const head = ["", "", PEERS.bare, PEERS[OURS], "× bare", "min..max", "bar", ""];
  const headPi = [PEERS.pi, "× pi", "min..max", "bar", ""];
  printTable([
    [...head, ...(hasPi ? headPi : [])],
    ...verdicts.map(({ what, unit, figures, own, bare, pi }) => [
      what,
      unit,
      median(figures["bare"]),
      median(figures[OURS]),
      ...(own ? ["", ...judged(own).slice(1)] : judged(bare)),
      ...(hasPi ? [median(figures["pi"]), ...judged(pi)] : []),
    ]),
  ]);
}

/**
 * Cost per step by the length of the turn.
 *
 * @param {readonly import("./rounds.js").Round[]} rounds
 * @param {readonly string[]} peers
 * @param {readonly number[]} steps
 */
export function printGrowth(rounds, peers, steps) {
  const rows = peers.flatMap((peer) => {
    const costs = steps.map((count) => spreadOf(rounds.map((round) => round[peer]?.["growth"]?.us[count]))?.median);
    return costs.map((cost, place) => ({ peer, place, cost, first: costs[0] }));
  });
  const most = Math.max(...rows.map(({ cost = 0 }) => cost));
  console.log("\n  cost per step as a turn grows, µs of CPU\n");
  for (const { peer, place, cost, first } of rows) {
    if (cost === undefined || first === undefined) continue;
    const name = place === 0 ? PEERS[/** @type {keyof typeof PEERS} */ (peer)] : "";
    const bar = "█".repeat(Math.max(1, Math.round((cost / most) * CHART_WIDTH)));
    const growth = place === 0 ? "" : ` ${(cost / first).toFixed(2)}×`;
    console.log(`  ${name.padEnd(12)} ${String(steps[place]).padStart(5)} steps ${bar} ${short(cost)}${growth}`);
  }
}

/** @param {import("./spread.js").Spread | undefined} spread */
function median(spread) {
  return spread === undefined ? "-" : short(spread.median);
}

/** @param {import("./verdict.js").Judged | undefined} judged */
function judged(judged) {
  if (judged === undefined) return ["", "", "", ""];
  const { spread, bar } = judged;
  return [short(spread.median), rangeOf(spread), bar === undefined ? "" : `≤ ${bar}`, wordOf(judged)];
}

/** @param {readonly string[][]} rows */
function printTable(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  for (const cells of rows) {
    const padded = cells.map((cell, column) =>
      COLUMNS_LEFT.has(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${padded.join("  ")}`.trimEnd());
  }
}
