/** Installs the npm packages that the lock file names, when some are missing or of another version. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT, runOrExit } from "./command.js";

/** Some development dependencies ask for a newer Node; the tests that need them run there only. */
const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

export function ensureDependencies() {
  if (!existsSync(join(ROOT, "node_modules"))) {
    console.log("installing the development dependencies");
    runOrExit("npm", ["ci", ...QUIET]);
  } else if (!areInstalled()) {
    console.log("updating the development dependencies");
    runOrExit("npm", ["install", ...QUIET]);
  }
}

/** Compares contents, not times: a checkout touches the lock file without changing it. */
function areInstalled() {
  const installed = packagesOf(join(ROOT, "node_modules", ".package-lock.json"));
  return Object.entries(packagesOf(join(ROOT, "package-lock.json"))).every(
    ([path, { version, optional, peer }]) =>
      path === "" || optional === true || peer === true || installed[path]?.version === version,
  );
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean, peer?: boolean }>}
 */
function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).packages : {};
}
