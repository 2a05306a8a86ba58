/**
 * Loads the native core, once, for the host and the schemas. Nothing else names the binary or its packages.
 *
 * @import * as Native from "../native.js"
 * @import { HotFunctions } from "./hot.js"
 */

import { loadFor } from "./load-for.js";
import load from "./load.cjs";
import { runningLibc } from "./running-libc.js";

const { platform, arch } = process;
const libc = platform === "linux" ? (runningLibc() ?? "gnu") : undefined;

/** @type {typeof Native & HotFunctions} */
export const native = loadFor({ platform, arch, libc }, load);
