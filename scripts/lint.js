/**
 * Every check that is not a test. All run, whatever failed before; the exit code tells whether any did.
 *
 *   node scripts/lint.js [name…]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { outputOf, ROOT, runAndCollect } from "./command.js";

const CRATE_LICENCES =
  /^(?:MIT|Apache-2\.0|BSD-[23]-Clause|ISC|Zlib|Unicode-3\.0|0BSD|Unlicense|CC0-1\.0|MIT-0|BSL-1\.0|MPL-2\.0)$/;

/** @type {Record<string, () => boolean | Promise<boolean>>} */
const CHECKS = {
  "rust format": () => succeeds("cargo", ["fmt", "--check"]),
  "rust lints": () => succeeds("cargo", ["clippy", "--all-targets", "--quiet", "--", "-D", "warnings"]),
  "kernel lints": () =>
    succeeds("cargo", ["clippy", "--all-targets", "--quiet", "--no-default-features", "--", "-D", "warnings"]),
  "kernel without napi": kernelKnowsNoNapi,
  "crate licences": crateLicencesAreFree,
  "js lints": () => succeedsLocally("oxlint", ["--deny-warnings"]),
  "js format": () => succeedsLocally("oxfmt", ["--check"]),
  types: typesFit,
  "unused code": () => succeedsLocally("knip", []),
  "package shape": packageIsSound,
  "generated types are fresh": () => isUnchanged("js/native.d.ts"),
  "no machine paths": noMachinePaths,
};

const named = process.argv.slice(2);
/** @type {string[]} */
const failures = [];
for (const [name, check] of Object.entries(CHECKS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  console.log(`── ${name}`);
  if (!(await check())) failures.push(name);
}
console.log(failures.length === 0 ? "\nall checks passed" : `\nfailed: ${failures.join(", ")}`);
process.exitCode = failures.length === 0 ? 0 : 1;

/**
 * @param {string} command
 * @param {string[]} args
 */
async function succeeds(command, args) {
  return (await runAndCollect(command, args)).code === 0;
}

/**
 * @param {string} tool
 * @param {string[]} args
 */
function succeedsLocally(tool, args) {
  return succeeds(join(ROOT, "node_modules", ".bin", tool), args);
}

async function typesFit() {
  for (const project of [".", "scripts", "benches"])
    if (!(await succeedsLocally("tsc", ["--project", project]))) return false;
  return true;
}

/** What users install is the packed tarball, so that is what is judged. */
async function packageIsSound() {
  const folder = mkdtempSync(join(tmpdir(), "keel-pack-"));
  try {
    const packed = outputOf("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]);
    if (packed === undefined) return false;
    const tarball = join(folder, JSON.parse(packed)[0].filename);
    const isSound = await succeedsLocally("publint", ["run", tarball, "--strict"]);
    return (await succeedsLocally("attw", [tarball, "--profile", "esm-only"])) && isSound;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} file written by the build that ran before */
function isUnchanged(file) {
  return succeeds("git", ["diff", "--exit-code", "--", file]);
}

function noMachinePaths() {
  // Split, so that the pattern does not find itself.
  const pattern = `(^|[^A-Za-z0-9._~-])/(${["home", "root", "Users", "work", "tmp"].join("|")})/[a-z]`;
  const found = outputOf("git", ["grep", "-nE", pattern, "--", ".", ":!*.lock", ":!package-lock.json"]);
  if (found !== undefined) console.error(found);
  return found === undefined;
}

function kernelKnowsNoNapi() {
  const crates = outputOf("cargo", ["tree", "--no-default-features", "--edges", "all", "--prefix", "none"]);
  return crates !== undefined && !/^napi/m.test(crates);
}

function crateLicencesAreFree() {
  const metadata = outputOf("cargo", ["metadata", "--format-version", "1", "--locked"]);
  if (metadata === undefined) return false;
  /** @type {{ name: string, license: string | null }[]} */
  const crates = JSON.parse(metadata).packages;
  const refused = crates.filter(({ license }) => !isFree(license ?? ""));
  for (const { name, license } of refused) console.error(`${name}: ${license ?? "no licence"}`);
  return refused.length === 0;
}

/** @param {string} expression an SPDX expression: one side of an `OR` is enough, every side of an `AND` is needed */
function isFree(expression) {
  const words = expression
    .replaceAll(/[()]/g, "")
    .replaceAll("/", " OR ")
    .replaceAll(/ WITH \S+/g, "");
  return words.split(" OR ").some((side) =>
    side
      .trim()
      .split(" AND ")
      .every((word) => CRATE_LICENCES.test(word.trim())),
  );
}
