/**
 * Finds the addon for a platform, or says which package is missing.
 *
 * @import { Platform } from "./targets.js"
 */

import { KeelError } from "../error.js";
import { packageOf, targetsFor, TARGETS } from "./targets.js";

/**
 * The addon for a platform; throws KeelError BINARY_MISSING with every underlying error in `cause`.
 *
 * @param {Platform} platform
 * @param {(target: string, errors: unknown[]) => any} loadTarget
 */
export function loadFor(platform, loadTarget) {
  /** @type {unknown[]} */
  const errors = [];
  const targets = targetsFor(platform);
  for (const target of targets) {
    const addon = loadTarget(target, errors);
    if (addon !== undefined) return addon;
  }
  throw binaryMissing(platform, targets, errors);
}

/**
 * @param {Platform} platform
 * @param {string[]} targets
 * @param {unknown[]} errors
 */
function binaryMissing(platform, targets, errors) {
  const where = [platform.platform, platform.arch, platform.libc].filter((word) => word !== undefined).join(" ");
  const cause = new AggregateError(errors, errors.map((error) => String(error)).join("\n"));
  const [target] = targets;
  if (target === undefined) {
    return new KeelError(
      "BINARY_MISSING",
      `keel-native has no binary for ${where}. It is published for: ${TARGETS.join(", ")}.`,
      { cause, details: { ...platform, package: undefined } },
    );
  }
  const name = packageOf(target);
  return new KeelError(
    "BINARY_MISSING",
    `keel-native could not load its binary for ${where}, which is in the package "${name}". ` +
      `Install that package in the same version as keel-native (npm install ${name}), and check that optional ` +
      `dependencies are not omitted. If the lock file was made on another platform, add this one to it with ` +
      `npm install --os=${platform.platform} --cpu=${platform.arch}${libcFlag(platform)} keel-native. ` +
      `What was tried is in this error's cause.`,
    { cause, details: { ...platform, package: name } },
  );
}

/** @param {Platform} platform */
function libcFlag({ libc }) {
  if (libc === undefined) return "";
  return ` --libc=${libc === "gnu" ? "glibc" : libc}`;
}
