/**
 * The host's half of each command, by its name. A command is an array: its name, then the fields that the kernel's
 * `protocol/command.rs` lists, in that order.
 *
 * @import { Host } from "../host.js"
 */

import { callCommands } from "./call-commands.js";
import { hookCommands } from "./hook-commands.js";
import { modelCommands } from "./model-commands.js";
import { turnCommands } from "./turn-commands.js";

/** @type {Record<string, (host: Host, command: any) => void>} */
export const perform = { ...turnCommands, ...modelCommands, ...hookCommands, ...callCommands };
