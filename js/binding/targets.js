/**
 * Which binary belongs to a platform: a pure table, so that every row is tested on any machine.
 *
 * @typedef {"gnu" | "musl"} Libc
 * @typedef {{ platform: string, arch: string, libc?: Libc | undefined }} Platform
 */

const PACKAGE = "keel-native";

const ABIS = new Map([
  ["linux", ["gnu", "musl"]],
  ["darwin", [""]],
  ["win32", ["msvc"]],
]);

/** Every target that is published. The order is the order in which it is listed to a user. */
export const TARGETS = Object.freeze([
  "linux-x64-gnu",
  "linux-x64-musl",
  "linux-arm64-gnu",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "win32-x64-msvc",
  "win32-arm64-msvc",
]);

/**
 * The targets worth trying, best first. On Linux the other C library comes second: what a system reports about its C
 * library is sometimes wrong, and loading the wrong binary fails without harm.
 *
 * @param {Platform} platform
 * @returns {string[]}
 */
export function targetsFor({ platform, arch, libc }) {
  const names = ABIS.get(platform) ?? [];
  const abis = libc === "musl" ? names.toReversed() : names;
  return abis
    .map((abi) => [platform, arch, abi].filter((word) => word !== "").join("-"))
    .filter((target) => TARGETS.includes(target));
}

/**
 * The npm package that holds the binary of a target.
 *
 * @param {string} target
 */
export function packageOf(target) {
  return `${PACKAGE}-${target}`;
}
