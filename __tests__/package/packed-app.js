/**
 * An app outside the repository into which the packed package is installed, offline and without install scripts, as a user
 * would get it from the registry.
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { addonPath } from "../../scripts/addon.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Packs the root package and the running platform's into a new temporary folder.
 *
 * @returns {{ folder: string, root: string, platform: string, platformName: string, remove: () => void }}
 */
export function packAll() {
  const folder = mkdtempSync(join(tmpdir(), "keel-install-"));
  const addon = addonPath();
  const target = basename(addon).split(".")[1] ?? "";
  // The command writes inside the project that its package.json belongs to, so it gets a copy of it here.
  copyFileSync(join(ROOT, "package.json"), join(folder, "package.json"));
  run(process.execPath, [join(ROOT, "node_modules", "@napi-rs", "cli", "dist", "cli.js"), "create-npm-dirs"], folder);
  const platform = join(folder, "npm", target);
  copyFileSync(addon, join(platform, basename(addon)));
  return {
    folder,
    root: pack(ROOT, folder),
    platform: pack(platform, folder),
    platformName: `keel-native-${target}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * @param {string} folder of the app, made here
 * @param {Record<string, string>} dependencies name → tarball or folder
 */
export function installApp(folder, dependencies) {
  mkdirSync(folder);
  const specifiers = Object.entries(dependencies).map(([name, path]) => [name, `file:${path}`]);
  const manifest = { name: "app", private: true, dependencies: Object.fromEntries(specifiers) };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  npm(["install", "--offline", "--ignore-scripts", "--install-links", "--no-audit", "--no-fund"], folder);
}

/**
 * Runs a command to its end.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @returns {string} what it printed; throws with all of it when it failed
 */
export function run(command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", env: cleanEnv() });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(`${basename(command)} ${args.join(" ")} ended with ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

/** @param {string} tarball */
export function filesIn(tarball) {
  return run("tar", ["-tzf", tarball], ROOT)
    .split("\n")
    .filter((file) => file !== "")
    .map((file) => file.replace(/^package\//, ""));
}

/** @param {string} folder */
export function manifestIn(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/**
 * @param {string} source a package's folder
 * @param {string} destination
 */
function pack(source, destination) {
  const [{ filename }] = JSON.parse(
    npm(["pack", "--json", "--ignore-scripts", "--pack-destination", destination], source),
  );
  return join(destination, filename);
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
function npm(args, cwd) {
  const command = process.platform === "win32" ? "npm.cmd" : "npm";
  return run(command, args, cwd);
}

/** npm hands its settings down to whatever runs below it; a test runner does the same. */
function cleanEnv() {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_(registry|cache)$)|^NODE_TEST/i.test(name),
  );
  return Object.fromEntries(entries);
}
