/** The runtimes that are measured, and the core that they are kept on. */

import { spawnSync } from "node:child_process";

import { installedRuntime } from "../scripts/runtimes.js";

/** @typedef {{ title: string, command: readonly string[] }} Runtime `command` starts the script that follows it */

/**
 * The core that everything measured runs on, so that a second one does not hide work. It is the last one that we may have:
 * systems tend to prefer the first for their own. Undefined where there is no `taskset`.
 */
export const CORE = lastCore();

/**
 * @param {import("../scripts/runtimes.js").RuntimeName | undefined} name undefined for the runtime that runs this
 * @returns {Runtime | undefined} undefined when it is not installed
 */
export function runtimeNamed(name) {
  const isThis = name === undefined || name === thisRuntime();
  const executable = isThis ? process.execPath : installedRuntime(name);
  if (executable === undefined) return undefined;
  const isBun = (name ?? thisRuntime()) === "bun";
  const { stdout } = spawnSync(executable, ["--version"], { encoding: "utf8" });
  const version = stdout.trim().replace(/^v/, "");
  const pin = CORE === undefined ? [] : ["taskset", "-c", CORE];
  return {
    title: `${isBun ? "Bun" : "Node"} ${version}`,
    command: [...pin, executable, ...(isBun ? [] : ["--expose-gc"])],
  };
}

function thisRuntime() {
  return process.versions["bun"] === undefined ? `node-${process.versions.node.split(".")[0]}` : "bun";
}

function lastCore() {
  const { status, stdout } = spawnSync("taskset", ["-c", "-p", String(process.pid)], { encoding: "utf8" });
  return status === 0 ? /(\d+)\s*$/.exec(stdout)?.[1] : undefined;
}
