/**
 * The host's half of each command. A command is a row of numbers: its head, then its fields. The usual commands read their
 * rows themselves, the others are made arrays of.
 */

import { callCommands } from "./call-commands.js";
import { OWN } from "./command-queue.js";
import { COMMANDS } from "./command-table.js";
import { hookCommands } from "./hook-commands.js";
import { modelCommands, OFFERS } from "./model-commands.js";
import { turnCommands } from "./turn-commands.js";

/** @import { Run } from "./run.js" */

/** @typedef {(run: Run, rows: Int32Array, at: number) => void} Perform where the row stands among the rows of the run */

/** @type {Record<string, (run: Run, command: any, at: any) => void>} */
const handlers = { ...turnCommands, ...modelCommands, ...hookCommands, ...callCommands };

/** These read their rows themselves. */
const BY_ROW = new Set(["open", "close", "settled", "suspended", "model", "resolve", "call", "release"]);

/** @type {Perform[]} by the number of the command */
export const perform = COMMANDS.map(([name, fields]) => {
  const handler = handlers[name];
  if (BY_ROW.has(name)) return handler;
  const forms = Object.values(fields);
  return (run, rows, at) => handler(run, read(run, rows, at + 1, name, forms), undefined);
});

/** What is performed of a tree after a fault, too: it begins nothing. */
const ENDING = new Set(["open", "close", "settled", "append", "resolve", "release", "cancel", "event"]);

/**
 * The same for a tree that had a fault: nothing of it runs on. What other commands append is appended, for the transcript
 * that its caller gets.
 *
 * @type {Perform[]}
 */
export const unwind = COMMANDS.map(([name, fields], kind) => {
  if (ENDING.has(name)) return perform[kind];
  const names = Object.keys(fields);
  const [turnKey, append] = [names.indexOf("turnKey") + 1, names.indexOf("append") + 1];
  if (append === 0) return () => {};
  return (run, rows, at) => run.turn(rows[at + turnKey]).append(at + append);
});

const STAGES = ["beforeModel", "afterModel", "beforeTool", "afterTool", "checkNestedTool", "observeNestedResult"];

/**
 * A command as an array of its name and its fields.
 *
 * @param {Run} run
 * @param {Int32Array} rows
 * @param {number} at
 * @param {string} name
 * @param {string[]} forms
 */
function read({ commands }, rows, at, name, forms) {
  /** @type {any[]} */
  const command = [name];
  for (const form of forms) {
    const word = rows[at];
    at += 1;
    switch (form) {
      case "number":
        command.push(word);
        break;
      case "optionalNumber":
        command.push(word < 0 ? null : word);
        break;
      case "text":
        command.push(commands.text(word) ?? null);
        break;
      case "ownText":
        // What the host has itself stays the number that says so.
        command.push(word === OWN ? word : (commands.text(word) ?? null));
        break;
      case "stage":
        command.push(STAGES[word]);
        break;
      case "offer":
        command.push(word < 0 ? null : OFFERS[word]);
        break;
      case "call":
        // Where the call stands, and what is said of it.
        command.push(word, rows[at] === OWN ? OWN : (commands.text(rows[at]) ?? null));
        at += 1;
        break;
      case "messages":
        command.push(at - 1);
        at += word;
        break;
      case "double":
        command.push(commands.double(at - 1));
        at += 1;
        break;
    }
  }
  return command;
}
