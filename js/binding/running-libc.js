/** @import { Libc } from "./platform-package.js" */

/**
 * The C library of the running process, from its own report. Files of the operating system say which one is installed,
 * not which one this process runs on: a glibc Node on Alpine and a musl Node on Debian both exist.
 *
 * @param {{ header?: object, sharedObjects?: string[] } | undefined} [report]
 * @returns {Libc | undefined} undefined when the report does not tell
 */
export function runningLibc(report = ownReport()) {
  if (report === undefined) return undefined;
  if (/** @type {Record<string, unknown>} */ (report.header ?? {})["glibcVersionRuntime"] !== undefined) return "gnu";
  const libraries = report.sharedObjects ?? [];
  if (libraries.some((file) => /(^|\/)(ld-musl-|libc\.musl-)/.test(file))) return "musl";
  if (libraries.some((file) => /(^|\/)(ld-linux-|libc\.so\.6$)/.test(file))) return "gnu";
  return undefined;
}

/** @returns {{ header?: object, sharedObjects?: string[] } | undefined} */
function ownReport() {
  const { report } = process;
  if (typeof report?.getReport !== "function") return undefined;
  // Listing the network makes the report wait for reverse DNS look-ups.
  const reportable = /** @type {typeof report & { excludeNetwork?: boolean }} */ (report);
  const before = reportable.excludeNetwork;
  reportable.excludeNetwork = true;
  try {
    return /** @type {{ header?: object, sharedObjects?: string[] }} */ (report.getReport());
  } catch {
    return undefined;
  } finally {
    if (before !== undefined) reportable.excludeNetwork = before;
  }
}
