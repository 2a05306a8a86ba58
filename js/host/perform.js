/**
 * The host's half of each command. A command is a row of numbers: its head, then the fields that the kernel's
 * `protocol/command.rs` lists, in that order. The usual commands read their rows themselves, the others are made arrays of.
 *
 * @import { Host } from "./host.js"
 */

import { callCommands } from "./call-commands.js";
import { hookCommands } from "./hook-commands.js";
import { modelCommands } from "./model-commands.js";
import { turnCommands } from "./turn-commands.js";

/**
 * By their numbers. The letters say what the fields are: a number, a number that may be absent, a text, a flag, messages.
 *
 * @type {[name: string, fields: string][]}
 */
const COMMANDS = [
  ["open", ""],
  ["close", ""],
  ["settled", ""],
  ["suspended", ""],
  ["instructions", "nnt"],
  ["access", "nn???"],
  ["append", "nm"],
  ["hooks", "nns?trO"],
  ["authorize", "nn?t"],
  ["approve", "nnt"],
  ["inject", "nn?t"],
  ["ledger", "nnt"],
  ["model", ""],
  ["prepare", "nn?nt?"],
  ["preparePart", "nnnt"],
  ["brief", "nn?nt?"],
  ["wrap", "nn?t"],
  ["resolve", ""],
  ["call", ""],
  ["release", ""],
  ["cancel", "ntt"],
  ["event", "nt"],
  ["wake", "d"],
];

const STAGES = ["beforeModel", "afterModel", "beforeTool", "afterTool", "checkNestedTool", "observeNestedResult"];
export const OFFERS = /** @type {const} */ (["all", "submit", "nothing"]);

/** @type {Record<string, (host: Host, command: any) => void>} */
const handlers = { ...turnCommands, ...modelCommands, ...hookCommands, ...callCommands };

/** @type {((host: Host, rows: Int32Array, at: number) => void)[]} */
export const perform = COMMANDS.map(([name, fields]) => {
  const handler = /** @type {any} */ (handlers[name]);
  if (fields === "") return handler;
  return (host, rows, at) => handler(host, read(host, rows, at + 1, name, fields));
});

/**
 * @param {Host} host
 * @param {Int32Array} rows
 * @param {number} at
 * @param {string} name
 * @param {string} fields
 */
function read(host, rows, at, name, fields) {
  /** @type {any[]} */
  const command = [name];
  for (const field of fields) {
    const word = /** @type {number} */ (rows[at]);
    at += 1;
    switch (field) {
      case "n":
        command.push(word);
        break;
      case "?":
        command.push(word < 0 ? null : word);
        break;
      case "t":
        command.push(host.text(word) ?? null);
        break;
      case "r":
        // A result that stands as it was answered.
        command.push(word === -2 ? word : (host.text(word) ?? null));
        break;
      case "s":
        command.push(STAGES[word]);
        break;
      case "O":
        command.push(word < 0 ? null : OFFERS[word]);
        break;
      case "m":
        command.push(at - 1);
        at += word;
        break;
      case "d":
        command.push(host.double(at - 1));
        at += 1;
        break;
    }
  }
  return command;
}
