/**
 * Loads the native core, once, for the host and the schemas. Nothing else names the binary or its packages.
 *
 * @import * as Native from "./native.js"
 */

import { loadFor } from "./binding/load-for.js";
import load from "./binding/load.cjs";
import { runningLibc } from "./binding/running-libc.js";

const { platform, arch } = process;
const libc = platform === "linux" ? (runningLibc() ?? "gnu") : undefined;

/** @type {typeof Native} */
export const native = loadFor({ platform, arch, libc }, load);
