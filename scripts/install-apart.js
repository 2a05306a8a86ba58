/** Installs npm packages into a folder of their own, so that neither the checkout's package.json nor its lock file is touched. */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Packages run no code of theirs while they are installed. */
const FLAGS = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];

/**
 * Replaces what is in `folder`. Whether it worked is told by what lies there afterwards, as npm also succeeds in leaving
 * out what is not for this platform.
 *
 * @param {string} folder
 * @param {readonly string[]} specifiers
 * @returns {string} what npm had to complain about
 */
export function installApart(folder, specifiers) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const { stderr, error } = spawnSync("npm", ["install", ...FLAGS, ...specifiers], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "inherit", "pipe"],
    shell: process.platform === "win32",
  });
  return error?.message ?? stderr;
}
