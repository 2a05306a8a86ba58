/** One turn in one line: its place in the tree, where it stands, what of its budget it used. */

/** @import { RecordTree, TurnRecord } from "keel-native" */

/**
 * The lines of a tree of records, each child under its caller.
 *
 * @param {RecordTree} tree
 * @param {(record: TurnRecord) => string} [more] what else to say of a turn
 * @returns {string[]}
 */
export function treeLines(tree, more = () => "") {
  return lines(tree, "", "").map(({ branch, record, depth }) => {
    const name = `${branch}T${depth} ${record.agentId}`.padEnd(22);
    return `${name}  ${standing(record).padEnd(20)}  ${spent(record)}${more(record)}`;
  });
}

/**
 * @param {RecordTree} tree
 * @param {string} branch
 * @param {string} stem
 * @param {number} [depth]
 * @returns {{ branch: string, record: TurnRecord, depth: number }[]}
 */
function lines({ record, children }, branch, stem, depth = 1) {
  const below = children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    return lines(child, `${stem}${isLast ? "└─ " : "├─ "}`, `${stem}${isLast ? "   " : "│  "}`, depth + 1);
  });
  return [{ branch, record, depth }, ...below];
}

/** @param {TurnRecord} record */
function standing({ status, outcome }) {
  return outcome?.status === "failed" ? `failed ${outcome.cause.code}` : status;
}

/**
 * What a turn used of what it was granted.
 *
 * @param {TurnRecord} record
 */
export function spent({ budget: { granted, used }, usage }) {
  const nudges = usage.nudges === 0 ? "" : ` and ${usage.nudges} ${usage.nudges === 1 ? "nudge" : "nudges"}`;
  const time = seconds(used.timeMs) + (granted.timeMs === undefined ? "" : ` of ${seconds(granted.timeMs)}`);
  return `${used.steps} of ${granted.steps} steps${nudges}, ${used.toolCalls} of ${granted.toolCalls} calls, ${time}`;
}

/** @param {TurnRecord["budget"]} budget */
export function granted({ granted: { steps, toolCalls, timeMs } }) {
  return `${steps} steps, ${toolCalls} calls${timeMs === undefined ? "" : `, ${seconds(timeMs)}`}`;
}

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 0)} s`;
}
