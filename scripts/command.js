/** Runs the commands that the scripts consist of. */

import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The root of the checkout. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** npm and the tools in node_modules are batch files on Windows, which only a shell starts. */
function needsShell(/** @type {string} */ command) {
  return process.platform === "win32" && !command.endsWith(".exe");
}

/**
 * Runs a command, shows what it prints, and ends this process with its exit code when it fails.
 *
 * @param {string} command
 * @param {readonly string[]} args
 */
export function runOrExit(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    shell: needsShell(command),
  });
  if (error !== undefined) {
    console.error(`cannot run ${command}: ${error.message}`);
    process.exit(1);
  }
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Runs a command and shows what it prints while collecting it.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function runAndCollect(command, args, { env = process.env } = {}) {
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"], shell: needsShell(command) });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
    process.stdout.write(text);
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output += text;
    process.stderr.write(text);
  });
  return new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(`cannot run ${command}: ${error.message}`);
      resolve({ code: 1, output });
    });
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/**
 * What a command prints, or undefined when it fails or is missing.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {string | undefined}
 */
export function outputOf(command, args) {
  const options = /** @type {const} */ ({
    cwd: ROOT,
    encoding: "utf8",
    shell: needsShell(command),
    maxBuffer: 64 * 1024 * 1024,
  });
  const { status, stdout } = spawnSync(command, args, options);
  return status === 0 ? stdout : undefined;
}
