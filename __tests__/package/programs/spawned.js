/** Starts a program of `__tests__/package/programs/` under the runtime that runs this test, and waits until it exits by itself. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A program that has not exited by then hangs; nothing waits this long when all is well. */
const HANGS_AFTER_MS = 60_000;

/**
 * @param {string} program a file of `__tests__/package/programs/`
 * @param {string[]} [args]
 * @returns {Promise<{ code: number | null, signal: string | null, stdout: string, stderr: string }>}
 */
export function runProgram(program, args = []) {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [file, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: HANGS_AFTER_MS,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
