/** How figures, ratios and verdicts are written, in the terminal and in the README alike. */

/** @param {number} figure */
export function short(figure) {
  return Math.abs(figure) >= 100 ? figure.toFixed(0) : figure.toFixed(Math.abs(figure) >= 10 ? 1 : 2);
}

/** @param {import("./spread.js").Spread} spread */
export function rangeOf({ least, most }) {
  return `${short(least)}..${short(most)}`;
}

/** @param {import("./verdict.js").Judged} judged */
export function wordOf({ isWithin }) {
  if (isWithin === undefined) return "";
  return isWithin ? "ok" : "over";
}
