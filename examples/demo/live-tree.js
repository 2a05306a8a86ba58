/**
 * Prints what happens, line by line. On a terminal the tree of turns stands below the lines and is drawn anew with each of
 * them; elsewhere there are only lines, so that a log stays readable.
 */

import { eventText } from "./event-text.js";
import { seconds, treeLines } from "./turn-line.js";

/** @import { Keel, KeelEvent } from "keel-native" */

/**
 * @param {Keel} keel
 * @param {NodeJS.WriteStream} out
 */
export function liveTree(keel, out) {
  /** @type {number | undefined} */
  let startedAt;
  let drawn = 0;

  return {
    /** @param {KeelEvent} event */
    async show(event) {
      startedAt ??= event.at;
      const record = await keel.records.get(event.turnId);
      const text = record && eventText(event, record);
      if (text === undefined) return;
      const depth = event.turnId.split(".").length;
      const who = `${"  ".repeat(depth - 1)}T${depth} ${event.agentId}`.padEnd(20);
      erase();
      print(`${seconds(event.at - startedAt).padStart(7)}  ${who}  ${text}`);
      if (out.isTTY) draw(await treeOf(event.rootTurnId));
    },

    end() {
      erase();
    },
  };

  /** @param {string} turnId */
  async function treeOf(turnId) {
    const tree = await keel.records.tree(turnId);
    return tree === undefined ? [] : ["", ...treeLines(tree)];
  }

  /** @param {string[]} lines */
  function draw(lines) {
    lines.forEach(print);
    drawn = lines.length;
  }

  /** Takes the drawn tree off the screen again. */
  function erase() {
    if (drawn > 0) out.write(`\u001B[${drawn}A\u001B[J`);
    drawn = 0;
  }

  /** @param {string} line a line that is cut takes one row, whatever it says */
  function print(line) {
    out.write(`${out.isTTY ? line.slice(0, (out.columns || 80) - 1) : line}\n`);
  }
}
