/** @import { Libc } from "./targets.js" */

import { readFileSync } from "node:fs";

/**
 * The C library that the running process has loaded. The files of an operating system say which one is installed, not
 * which one this process runs on: a glibc Node on Alpine and a musl Node on Debian both exist.
 *
 * The kernel's list of mapped files costs a fraction of a millisecond; the process report, which works everywhere, costs
 * several, so it comes second.
 *
 * @returns {Libc | undefined} undefined when neither tells
 */
export function runningLibc() {
  return libcOfFiles(mappedFiles()) ?? libcOfReport(ownReport());
}

/**
 * @param {readonly string[]} files paths of the libraries a process has loaded
 * @returns {Libc | undefined}
 */
export function libcOfFiles(files) {
  if (files.some((file) => /\/(ld-musl-|libc\.musl-)[^/]*$/.test(file))) return "musl";
  if (files.some((file) => /\/(ld-linux[^/]*|libc\.so\.6|libc-2\.\d+\.so)$/.test(file))) return "gnu";
  return undefined;
}

/**
 * @param {{ header?: object, sharedObjects?: string[] } | undefined} report as `process.report.getReport()` gives it
 * @returns {Libc | undefined}
 */
export function libcOfReport(report) {
  const header = /** @type {Record<string, unknown>} */ (report?.header ?? {});
  if (header["glibcVersionRuntime"] !== undefined) return "gnu";
  return libcOfFiles(report?.sharedObjects ?? []);
}

function mappedFiles() {
  try {
    const lines = readFileSync("/proc/self/maps", "latin1").split("\n");
    return lines.map((line) => line.slice(line.indexOf("/")));
  } catch {
    return [];
  }
}

/** @returns {{ header?: object, sharedObjects?: string[] } | undefined} */
function ownReport() {
  const report = /** @type {NodeJS.ProcessReport & { excludeNetwork?: boolean } | undefined} */ (process.report);
  if (typeof report?.getReport !== "function") return undefined;
  const before = report.excludeNetwork ?? false;
  try {
    // Listing the network makes the report wait for reverse look-ups.
    report.excludeNetwork = true;
    return /** @type {{ header?: object, sharedObjects?: string[] }} */ (report.getReport());
  } catch {
    return undefined;
  } finally {
    report.excludeNetwork = before;
  }
}
