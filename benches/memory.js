/** Memory of this process, in bytes: that of the JavaScript heap and of native code alike. */

import { readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";

import { sleep } from "./work.js";

/** Pages of a collected heap are given back in the background. */
const GIVING_BACK_MS = 200;

/** What is held when everything that can be collected has been, and was given back to the system. */
export async function memoryAfterCollection() {
  await collectAll();
  await sleep(GIVING_BACK_MS);
  await collectAll();
  return process.memoryUsage().rss;
}

/** Where the system can, the peak counts from here; elsewhere from the start of the process. */
export function forgetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Only Linux has it.
  }
}

/** `maxRSS` is the last resort: on Linux it includes the process that started this one. */
export function peakMemory() {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}

/** So that nobody pays for what others left. */
export function collectGarbage() {
  const { gc, Bun } = /** @type {any} */ (globalThis);
  gc?.();
  Bun?.gc(true);
}

/**
 * As the inspector does it: `gc()` keeps the pages of the young generation, which are most of what many short runs took.
 * Bun's inspector cannot, and its `gc` need not.
 */
async function collectAll() {
  if (process.versions["bun"] !== undefined) {
    collectGarbage();
    return;
  }
  const session = new Session();
  session.connect();
  await new Promise((resolve, reject) => {
    session.post("HeapProfiler.collectGarbage", (error) => (error ? reject(error) : resolve(undefined)));
  });
  session.disconnect();
}
