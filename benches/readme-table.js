/** Writes what was measured into the README, between two comments. */

import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

import { OURS } from "./bars.js";
import { CORE } from "./runtime.js";
import { rangeOf, short, wordOf } from "./wording.js";

const README = new URL("../README.md", import.meta.url);
const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";

/**
 * @typedef {import("./verdict.js").Verdict} Verdict
 * @typedef {{ title: string, verdicts: readonly Verdict[], hasPi: boolean }} Measured under one runtime
 */

/**
 * @param {readonly Measured[]} measured at least one
 * @param {{ rounds: number, piTitle: string }} circumstances
 */
export function writeTable(measured, circumstances) {
  const text = readFileSync(README, "utf8");
  const [before, begun] = split(text, BEGIN);
  const [, after] = split(begun, END);
  writeFileSync(
    README,
    `${before}${BEGIN}\n\n${introduction(measured, circumstances)}\n\n${table(measured)}\n\n${END}${after}`,
  );
}

/**
 * @param {string} text
 * @param {string} marker
 * @returns {[string, string]}
 */
function split(text, marker) {
  const at = text.indexOf(marker);
  if (at < 0) throw new Error(`README.md: expected ${marker}`);
  return [text.slice(0, at), text.slice(at + marker.length)];
}

/**
 * @param {readonly Measured[]} measured
 * @param {{ rounds: number, piTitle: string }} circumstances
 */
function introduction(measured, { rounds, piTitle }) {
  const date = new Date().toISOString().slice(0, 10);
  const place = `${CORE === undefined ? "" : "one core of "}${cpus()[0]?.model.trim() || "an unknown processor"}`;
  const pi = measured.some(({ hasPi }) => hasPi) ? `, and to \`${piTitle}\`` : "";
  return [
    `Measured on ${date}, ${place}:`,
    `CPU time, medians of ${rounds} rounds. Below our cost is its ratio to the bare loop${pi}, with the least and`,
    "the most over the rounds, and whether the median is within its bar.",
  ].join("\n");
}

/** @param {readonly Measured[]} measured */
function table(measured) {
  const [first] = measured;
  const rows = (first?.verdicts ?? []).map(({ what }, place) => [
    what,
    barsOf(measured.map(({ verdicts }) => verdicts[place])),
    ...measured.map(({ verdicts }) => cellOf(verdicts[place])),
  ]);
  return [["", "bar", ...measured.map(({ title }) => title)], ["---", "---", ...measured.map(() => "---:")], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/**
 * The bars of a line; that of pi only where some runtime measured it.
 *
 * @param {readonly (Verdict | undefined)[]} verdicts
 */
function barsOf(verdicts) {
  const barOf = (/** @type {"own" | "bare" | "pi"} */ name) =>
    verdicts.map((verdict) => verdict?.[name]?.bar).find((bar) => bar !== undefined);
  const [own, bare, pi] = [barOf("own"), barOf("bare"), barOf("pi")];
  return [
    ...(own === undefined ? [] : [`≤ ${own} ${verdicts[0]?.unit}`]),
    ...(bare === undefined ? [] : [`≤ ${bare}× bare`]),
    ...(pi === undefined ? [] : [`≤ ${pi}× pi`]),
  ].join("<br>");
}

/** @param {Verdict | undefined} verdict */
function cellOf(verdict) {
  const ours = verdict?.figures[OURS];
  if (verdict === undefined || ours === undefined) return "";
  const { unit, own, bare, pi } = verdict;
  const cost = unit === "×" ? `${short(ours.median)}×` : `${short(ours.median)} ${unit}`;
  return [
    own === undefined ? cost : `${cost} (${rangeOf(own.spread)}) ${wordOf(own)}`.trim(),
    ...(bare === undefined ? [] : [ratio("bare", bare)]),
    ...(pi === undefined ? [] : [ratio("pi", pi)]),
  ].join("<br>");
}

/**
 * @param {string} peer
 * @param {import("./verdict.js").Judged} judged
 */
function ratio(peer, judged) {
  const { spread } = judged;
  return `${peer} ${short(spread.median)}× (${rangeOf(spread)}) ${wordOf(judged)}`.trim();
}
