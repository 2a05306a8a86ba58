/**
 * Builds the addon. As a command (`npm run build`) it always builds, and hands its arguments to `napi build`;
 * `ensureAddon` builds only when the one that is there was made from other sources.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { targetsFor } from "../js/binding/targets.js";
import { runningLibc } from "../js/binding/running-libc.js";
import { outputOf, ROOT, runOrExit } from "./command.js";

const RUST_MINIMUM = "1.91";
const SOURCES = ["Cargo.toml", "Cargo.lock", "build.rs", "src"];

export function ensureAddon() {
  const addon = addonPath();
  if (existsSync(addon) && existsSync(stampOf(addon)) && readFileSync(stampOf(addon), "utf8") === sourcesHash()) return;
  console.log("building the native core (about two minutes the first time)");
  buildAddon([]);
}

/** Where the build for the running platform lies. */
export function addonPath() {
  const { platform, arch } = process;
  const [target] = targetsFor({ platform, arch, libc: runningLibc() });
  if (target === undefined) throw new Error(`keel-native is not built for ${platform} ${arch}`);
  return join(ROOT, "js", `keel-native.${target}.node`);
}

/** @param {readonly string[]} args */
function buildAddon(args) {
  if (outputOf("cargo", ["--version"]) === undefined) {
    console.error(
      `The native core is written in Rust: install Rust ${RUST_MINIMUM} or later (https://rustup.rs), then try again.`,
    );
    process.exit(1);
  }
  // Taken before the build: sources that change meanwhile make the result stale.
  const sources = sourcesHash();
  const cli = join("node_modules", "@napi-rs", "cli", "dist", "cli.js");
  // Without --no-dts-cache a build after a plain `cargo build` writes an empty type file.
  const fixed = ["--platform", "--release", "--output-dir", "js", "--no-js", "--dts", "native.d.ts", "--no-dts-cache"];
  runOrExit(process.execPath, [cli, "build", ...fixed, ...args]);
  if (args.length === 0) writeFileSync(stampOf(addonPath()), sources);
}

/**
 * Where the hash of the sources lies that an addon was made from. Not a name that `require` would take for the addon.
 *
 * @param {string} addon
 */
function stampOf(addon) {
  return `${addon}.sources`;
}

function sourcesHash() {
  const hash = createHash("sha256");
  for (const file of SOURCES.flatMap(filesUnder)) {
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(ROOT, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

/**
 * @param {string} path
 * @returns {string[]} sorted, relative to the root
 */
function filesUnder(path) {
  const here = join(ROOT, path);
  if (path !== "src") return existsSync(here) ? [path] : [];
  return readdirSync(here, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".rs"))
    .map((file) => `${path}/${file.replaceAll("\\", "/")}`)
    .toSorted();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) buildAddon(process.argv.slice(2));
