/**
 * The host's half of each command, by its `type`.
 *
 * @import { Host } from "../host.js"
 */

import { callCommands } from "./call-commands.js";
import { hookCommands } from "./hook-commands.js";
import { modelCommands } from "./model-commands.js";
import { turnCommands } from "./turn-commands.js";

/** @type {Record<string, (host: Host, command: any) => void>} */
export const perform = { ...turnCommands, ...modelCommands, ...hookCommands, ...callCommands };
